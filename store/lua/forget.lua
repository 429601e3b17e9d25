-- Removes endpoints and all that is kept of them, each only if its record is as read, and tells it. Live
-- jobs stay counted until they end: should the endpoint be listed again, they are its own.
-- KEYS 1 eligible 2 endpoints 3-6 lanes 7 leases 8 urls 9 counts 10 holds 11 meta
--      12 clock 13 events 14 inflight 15 engaged
-- ARGV 1-4 as in clock.lua 5 events kept 6 by, then id, record, state for each
-- Returns a code for each: 0 removed, 2 the record changed, 3 being probed now: not removed
local codes, now, kept = {}, pool_time(KEYS[12], false), number(5)
for k = 7, #ARGV, 3 do
  local id, state, code = ARGV[k], ARGV[k + 2], 0
  if redis.call('HGET', KEYS[2], id) ~= ARGV[k + 1] then
    code = 2
  elseif redis.call('ZSCORE', KEYS[7], id) then
    code = 3
  else
    redis.call('HINCRBY', KEYS[9], state, -1)
    if state == 'eligible' then lowest() end
    for i = 3, 6 do redis.call('ZREM', KEYS[i], id) end
    redis.call('ZREM', KEYS[1], id)
    part(id)
    redis.call('ZREM', KEYS[10], id)
    redis.call('HDEL', KEYS[2], id)
    redis.call('HDEL', KEYS[8], id)
    redis.call('XADD', KEYS[13], 'MAXLEN', '~', int(kept), '*', 'endpoint', id, 'from', state, 'to', 'none', 'stage', '', 'reason', '',
      'blame', '', 'by', ARGV[6], 'pause_ms', '0', 'detail', 'forgotten', 'at_ms', int(now), 'probe', '')
  end
  table.insert(codes, code)
end
return codes
