-- Fragment of what moves endpoints and ends jobs: how many live jobs each has. The last two keys of
-- the script are inflight and engaged: who is eligible has its number in the one, zero too, and
-- everybody else in the other, above zero only. Together they lose no job by a move.
-- jobs_of(id)              -> live jobs as counted; what is no number counts nothing
-- count_in, count_out      has the endpoint counted as an eligible one, as another one
-- join(id), part(id)       the same, when it enters and leaves the eligible set; who enters is
--                          counted only where the check counts jobs. KEYS 11 meta
local inflight, engaged = KEYS[#KEYS - 1], KEYS[#KEYS]

local function jobs_of(id)
  local away = string.match(redis.call('HGET', engaged, id) or '', '^%d+$')
  return bounded(redis.call('ZSCORE', inflight, id)) + bounded(away)
end

local function count_in(id, n)
  redis.call('ZADD', inflight, int(n), id)
  redis.call('HDEL', engaged, id)
end

local function count_out(id, n)
  redis.call('ZREM', inflight, id)
  if n >= 1 then redis.call('HSET', engaged, id, int(n)) else redis.call('HDEL', engaged, id) end
end

local function join(id)
  if redis.call('HGET', KEYS[11], 'jobs') == '1' then count_in(id, jobs_of(id)) end
end

local function part(id) count_out(id, jobs_of(id)) end
