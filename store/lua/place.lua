-- Fragment of commit and amend: where an endpoint waits, and how it enters and leaves the
-- eligible set. KEYS as in those scripts.
-- lowest()                 -> the lowest score in the pool, or the last one known
-- enter(id, kept, initial) puts a member in at `initial`, or at the lowest, or at its own kept count
-- leave(id, new)           -> the record with the allocations the member had
-- place(id, lane, due)     moves it to one lane, or none; due '' leaves it where it is
local lanes = lane_keys(3)

local function lowest()
  local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
  local low = math.max(tonumber(first or 0), tonumber(redis.call('HGET', KEYS[11], 'lowest') or 0))
  redis.call('HSET', KEYS[11], 'lowest', int(low))
  return low
end

local function enter(id, kept, initial)
  local score = tonumber(initial) or math.max(tonumber(kept), lowest())
  redis.call('ZADD', KEYS[1], int(score), id)
end

local function leave(id, new)
  lowest()
  local score = redis.call('ZSCORE', KEYS[1], id) or 0
  redis.call('ZREM', KEYS[1], id)
  if tonumber(score) == 0 then return new end
  return string.sub(new, 1, -2) .. ',"allocations":' .. int(tonumber(score)) .. '}'
end

local function place(id, lane, due)
  if due == '' and lane ~= 'disabled' then return end
  for _, key in pairs(lanes) do redis.call('ZREM', key, id) end
  if lanes[lane] then redis.call('ZADD', lanes[lane], due, id) end
end
