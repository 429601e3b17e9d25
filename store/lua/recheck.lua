-- Asks for a probe soon. An endpoint stands in one lane only; asking twice is one probe.
-- KEYS 1-4 lanes 5 leases 6 clock 7 meta
-- ARGV 1 priority (0-99999, lower first), then ids
-- Returns a code for each: 0 waits nowhere (unknown or disabled), 1 moved to the urgent
--   lane, 2 already there, 3 being probed now, 4 cooling: due now, inside the trickle
local now, codes = pool_time(KEYS[6], {last = 0, elapsed = 0, slack = 0, lease = 0}), {}
for k = 2, #ARGV do
  local id, code = ARGV[k], 0
  local recovery = redis.call('ZSCORE', KEYS[2], id)
  if redis.call('ZSCORE', KEYS[5], id) then
    code = 3
  elseif redis.call('ZSCORE', KEYS[1], id) then
    code = 2
  elseif recovery then
    redis.call('ZADD', KEYS[2], int(math.min(tonumber(recovery), now)), id)
    code = 4
  elseif redis.call('ZREM', KEYS[3], id) + redis.call('ZREM', KEYS[4], id) > 0 then
    redis.call('ZADD', KEYS[1], int(ARGV[1] * 2 ^ 36 + redis.call('HINCRBY', KEYS[7], 'seq', 1)), id)
    code = 1
  end
  table.insert(codes, code)
end
return codes
