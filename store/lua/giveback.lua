-- Returns leases whose probes did not take place, or were our own fault.
-- KEYS 1-4 lanes 5 leases 6 tokens 7 clock
-- ARGV 1 last 2 elapsed 3 slack 4 lease ms, then id, token, lane, delay ms for each; delay ''
--      returns it to the lane and place it was claimed from
-- Returns a code for each: 0 returned, 1 late (not the live lease)
local lanes, codes = lane_keys(1), {}
local now = pool_time(KEYS[7], {last = tonumber(ARGV[1]), elapsed = tonumber(ARGV[2]),
  slack = tonumber(ARGV[3]), lease = tonumber(ARGV[4]), moves = true})
for k = 5, #ARGV, 4 do
  local id, token, live = ARGV[k], ARGV[k + 1], redis.call('HGET', KEYS[6], ARGV[k]) or ''
  if live == '' or string.match(live, '[^.]*$') ~= string.match(token, '[^.]*$') then
    table.insert(codes, 1)
  else
    local lane, score = string.match(live, '^(%a+)%.(%d+)%.')
    if live == token and ARGV[k + 3] ~= '' then lane, score = ARGV[k + 2], int(now + ARGV[k + 3]) end
    if lanes[lane] then redis.call('ZADD', lanes[lane], score, id) end
    redis.call('ZREM', KEYS[5], id)
    redis.call('HDEL', KEYS[6], id)
    table.insert(codes, 0)
  end
end
return codes
