-- What a worker runs to take an endpoint for one job, for checks with `jobs: true`: the eligible one
-- with the fewest live jobs and, of these, the fewest allocations. It counts an allocation and a live
-- job, until release.lua or the job's time limit ends it. It stands alone.
-- KEYS 1 eligible 2 inflight 3 jobs 4 clock 5 urls: may be left out
-- ARGV 1 time limit in ms, 1 to 86,400,000 2 live jobs an endpoint has at most, 0 or '' for any number
-- Returns {endpoint, token}, with KEYS[5] {endpoint, token, full proxy URL: a secret}; nil when nobody
--   is eligible, or all have as many jobs as they may
-- Where the lowest of `eligible` is not among the least busy, it takes the first of the 8 lowest that is; else the
--   lowest of the least busy, or of 32 neighbours among them, at random, where there are more. What goes to Redis as
--   text goes quicker than a number. The token is SECONDS.LIMIT.MICROSECONDS:ENDPOINT, by the server's clock.
local limit, cap = tonumber(ARGV[1] or ''), tonumber(ARGV[2] ~= '' and ARGV[2] or 0)
if not (limit and limit >= 1 and limit <= 86400000 and limit % 1 == 0) then error('ARGV 1 is no time limit of 1 to 86400000 ms') end
if not (cap and cap >= 0 and cap % 1 == 0) then error('ARGV 2 is no number of jobs') end
local id, t = redis.call('ZRANGE', KEYS[1], '0', '0')[1], redis.call('TIME')
if not id then return nil end
local live = tonumber(redis.call('ZSCORE', KEYS[2], id) or 0)
local least = live > 0 and redis.call('ZRANGE', KEYS[2], '0', '0', 'WITHSCORES')[2] or '0'
if live > tonumber(least) then
  local low = redis.call('ZRANGE', KEYS[1], '0', '7')
  for i, n in ipairs(redis.call('ZMSCORE', KEYS[2], unpack(low))) do
    if tonumber(n or 0) < live then id, live = low[i], tonumber(n or 0) end
  end
  local many = live > tonumber(least) and redis.call('ZCOUNT', KEYS[2], '-inf', least) or 0
  local from, best = math.max(math.min(t[2] % math.max(many, 1) - 16, many - 32), 0), math.huge
  local idle = many > 0 and redis.call('ZRANGE', KEYS[2], from, math.min(from + 31, many - 1)) or {}
  for i, score in ipairs(idle[1] and redis.call('ZMSCORE', KEYS[1], unpack(idle)) or {}) do
    if score and tonumber(score) < best then id, live, best = idle[i], tonumber(least), tonumber(score) end
  end
end
if cap > 0 and live >= cap then return nil end
local url, c = KEYS[5] and (redis.call('HGET', KEYS[5], id) or id), redis.call('HMGET', KEYS[4], 'offset', 'high')
local now, micros, token = math.max(t[1] * 1000 + math.floor(t[2] / 1000) + (tonumber(c[1] or 0) or 0), tonumber(c[2] or 0) or 0), t[2], nil
repeat token, micros = t[1] .. '.' .. limit .. '.' .. micros .. ':' .. id, micros + 1 until redis.call('ZADD', KEYS[3], 'NX', string.format('%d', now + limit), token) == 1
for k = 1, 2 do redis.call('ZINCRBY', KEYS[k], '1', id) end
return {id, token, url}
