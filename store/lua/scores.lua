-- Fragment of commit, amend and forget: how an endpoint enters and leaves the eligible set.
-- KEYS 1 eligible 11 meta
-- lowest()                 -> the lowest score in the pool, or the highest that was known to be
--                             the lowest: a stray member at 1 must not drag others down
-- enter(id, kept, initial) puts a member in at `initial`, or at the lowest, or at its own kept count
-- leave(id, new)           -> the record with the allocations the member had
-- Its live jobs are counted along, as jobs.lua has it.
local function lowest()
  local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
  local low = math.max(bounded(first), bounded(redis.call('HGET', KEYS[11], 'lowest')))
  redis.call('HSET', KEYS[11], 'lowest', int(low))
  return low
end

local function enter(id, kept, initial)
  redis.call('ZADD', KEYS[1], int(tonumber(initial) or math.max(tonumber(kept), lowest())), id)
  join(id)
end

local function leave(id, new)
  lowest()
  local score = int(bounded(redis.call('ZSCORE', KEYS[1], id)))
  redis.call('ZREM', KEYS[1], id)
  part(id)
  if score == '0' then return new end
  return string.sub(new, 1, -2) .. ',"allocations":' .. score .. '}'
end
