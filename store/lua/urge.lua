-- Fragment of recheck and report_apply: asks for a probe of one endpoint soon.
-- KEYS 1-4 lanes 5 leases 7 meta
-- urge(id, priority, now) -> 0 waits nowhere (unknown or disabled), 1 moved to the urgent lane,
--   2 already there, at the more urgent of both priorities, 3 being probed now, 4 cooling: due
--   now, inside the trickle
local function ahead(id, from)
  raise(KEYS[7], 'seq', 1)
  redis.call('ZADD', KEYS[1], int(from + redis.call('HGET', KEYS[7], 'seq')), id)
end

local function urge(id, priority, now)
  local from, urgent, recovery = priority * 2 ^ 36, redis.call('ZSCORE', KEYS[1], id), redis.call('ZSCORE', KEYS[2], id)
  if redis.call('ZSCORE', KEYS[5], id) then return 3 end
  if urgent then
    if tonumber(urgent) >= from + 2 ^ 36 then ahead(id, from) end
    return 2
  end
  if recovery then
    if tonumber(recovery) > now then redis.call('ZADD', KEYS[2], int(now), id) end
    return 4
  end
  if redis.call('ZREM', KEYS[3], id) + redis.call('ZREM', KEYS[4], id) == 0 then return 0 end
  ahead(id, from)
  return 1
end
