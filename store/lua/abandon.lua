-- Ends jobs whose time is over, 200 at most, the oldest first, and has live jobs counted from now on.
-- KEYS 1 jobs 2 clock 3 meta 4 inflight 5 engaged
-- ARGV 1-4 as in clock.lua, then at most 200 tokens to be mended: of one that ends later than its
--      limit allows (the server's clock had leapt, and the pool took the leap out) the limit begins
--      anew, and what is no token goes
-- Returns {now, ended, mended, held as in clock.lua, 1 when all who are eligible are in inflight}, as strings
local now, held = pool_time(KEYS[2], false)
local mended, whole = 0, redis.call('HGET', KEYS[3], 'jobs_whole') or '0'
if #ARGV > 204 then error('more than 200 tokens') end
if redis.call('HGET', KEYS[3], 'jobs') ~= '1' then redis.call('HSET', KEYS[3], 'jobs', '1') end
for k = 5, #ARGV do
  local ends, limit = redis.call('ZSCORE', KEYS[1], ARGV[k]), tonumber(string.match(ARGV[k], '^%d+%.(%d+)%.%d+:.') or '')
  if ends and not limit then
    mended = mended + redis.call('ZREM', KEYS[1], ARGV[k])
  elseif ends and (tonumber(ends) or math.huge) > now + math.min(limit, 86400000) then
    mended = mended + 1
    redis.call('ZADD', KEYS[1], int(now + math.min(limit, 86400000)), ARGV[k])
  end
end
local over = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', int(now), 'LIMIT', 0, 200)
for _, token in ipairs(over) do
  local id = string.match(token, '^%d+%.%d+%.%d+:(.+)$')
  redis.call('ZREM', KEYS[1], token)
  if id then (redis.call('ZSCORE', inflight, id) and count_in or count_out)(id, math.max(jobs_of(id) - 1, 0)) end
end
if mended > 0 then raise(KEYS[3], 'repaired:I8', mended) end
return {int(now), int(#over), int(mended), int(held), whole}
