-- Asks for a probe soon. An endpoint stands in one lane only; asking twice is one probe, at the
-- more urgent of both priorities.
-- KEYS 1-4 lanes 5 leases 6 clock 7 meta
-- ARGV 1-4 as in clock.lua 5 priority (0-99999, lower first), then ids
-- Returns a code for each: 0 waits nowhere (unknown or disabled), 1 moved to the urgent
--   lane, 2 already there, 3 being probed now, 4 cooling: due now, inside the trickle
local from, now, codes = number(5) * 2 ^ 36, pool_time(KEYS[6], false), {}
local function ask(id) redis.call('ZADD', KEYS[1], int(from + redis.call('HINCRBY', KEYS[7], 'seq', 1)), id) end
for k = 6, #ARGV do
  local id, code = ARGV[k], 0
  local urgent, recovery = redis.call('ZSCORE', KEYS[1], id), redis.call('ZSCORE', KEYS[2], id)
  if redis.call('ZSCORE', KEYS[5], id) then
    code = 3
  elseif urgent then
    code = 2
    if tonumber(urgent) >= from + 2 ^ 36 then ask(id) end
  elseif recovery then
    code = 4
    if tonumber(recovery) > now then redis.call('ZADD', KEYS[2], int(now), id) end
  elseif redis.call('ZREM', KEYS[3], id) + redis.call('ZREM', KEYS[4], id) > 0 then
    code = 1
    ask(id)
  end
  table.insert(codes, code)
end
return codes
