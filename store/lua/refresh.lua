-- Takes or prolongs the right to refresh one source: one daemon at a time holds it.
-- KEYS 1 meta 2 clock
-- ARGV 1 source 2 daemon 3 how long ms
-- Returns {1 or 0, digest of the content last applied or ''}
local now = pool_time(KEYS[2], {last = 0, elapsed = 0, slack = 0, lease = 0})
local holder, ends = string.match(redis.call('HGET', KEYS[1], 'refresh:' .. ARGV[1]) or '', '^(%S+) (%d+)$')
local mine = not holder or holder == ARGV[2] or tonumber(ends) < now
if mine then redis.call('HSET', KEYS[1], 'refresh:' .. ARGV[1], ARGV[2] .. ' ' .. int(now + ARGV[3])) end
return {mine and 1 or 0, redis.call('HGET', KEYS[1], 'sum:' .. ARGV[1]) or ''}
