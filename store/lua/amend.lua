-- Applies changes no probe made (enroll, retire, return, disable, enable, a password), each
-- only onto the exact record it was judged against; '' is an endpoint without a record. A
-- live lease stays: its token says where the endpoint goes when the lease ends.
-- KEYS 1 eligible 2 endpoints 3-6 lanes 7 leases 8 tokens 9 counts 10 clock 11 meta 12 events
--      13 urls 14 holds
-- ARGV 1 events kept, then items as in move.lua
-- Returns a code for each item: 0 applied, 2 the record changed
local now, codes = pool_time(KEYS[10], {last = 0, elapsed = 0, slack = 0, lease = 0}), {}
for k = 2, #ARGV, 20 do
  local id, lane, url, ends = ARGV[k], ARGV[k + 6], ARGV[k + 11], ARGV[k + 12]
  if (redis.call('HGET', KEYS[2], id) or '') ~= ARGV[k + 2] then
    table.insert(codes, 2)
  else
    write(k, now, ARGV[1], '')
    local token, due = redis.call('HGET', KEYS[8], id), clamp(ARGV[k + 7], ARGV[k + 8], now)
    if not token then
      place(id, lane, due)
    elseif lane == 'disabled' or due ~= '' then
      redis.call('HSET', KEYS[8], id, lane .. '.' .. (due == '' and '0' or due) .. '.' .. string.match(token, '[^.]*$'))
    end
    if url == '-' then redis.call('HDEL', KEYS[13], id) elseif url ~= '=' then redis.call('HSET', KEYS[13], id, url) end
    if ends == '0' then redis.call('ZREM', KEYS[14], id) else redis.call('ZADD', KEYS[14], ends, id) end
    table.insert(codes, 0)
  end
end
return codes
