-- Applies changes no probe made (enroll, retire, return, disable, enable, a password), each
-- only onto the exact record it was judged against; '' is an endpoint without a record.
-- KEYS 1 eligible 2 endpoints 3-6 lanes 7 leases 8 tokens 9 counts 10 clock 11 meta 12 events
--      13 urls 14 holds 15 inflight 16 engaged
-- ARGV 1-4 as in clock.lua 5 events kept 6 '0' 7 '', then items as in item.lua
-- Returns a code for each item: 0 applied, 2 the record changed
check_items()
local now, lanes, codes = pool_time(KEYS[10], false), lane_keys(3), {}
for k = 8, #ARGV, 21 do
  local id, url, ends, code = ARGV[k], ARGV[k + 11], ARGV[k + 12], 0
  if (redis.call('HGET', KEYS[2], id) or '') ~= ARGV[k + 2] then
    code = 2
  else
    write(k, now, '')
    place(k, lanes, clamp(k, now))
    if url == '-' then redis.call('HDEL', KEYS[13], id) elseif url ~= '=' then redis.call('HSET', KEYS[13], id, url) end
    if ends == '0' then redis.call('ZREM', KEYS[14], id) else redis.call('ZADD', KEYS[14], ends, id) end
  end
  table.insert(codes, code)
end
return codes
