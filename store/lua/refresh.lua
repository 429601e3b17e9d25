-- Takes or prolongs the right to refresh one source: one daemon at a time holds it.
-- KEYS 1 meta 2 clock
-- ARGV 1-4 as in clock.lua 5 source 6 daemon 7 how long ms 8 '1' to take it from whoever has it
-- Returns {1 or 0, digest of the content last applied or ''}
local long, now, field = number(7), pool_time(KEYS[2], false), 'refresh:' .. ARGV[5]
local holder, ends = string.match(redis.call('HGET', KEYS[1], field) or '', '^(.*) (%d+)$')
local mine = ARGV[8] == '1' or not holder or holder == ARGV[6] or tonumber(ends) < now
if mine then redis.call('HSET', KEYS[1], field, ARGV[6] .. ' ' .. int(now + long)) end
return {mine and 1 or 0, redis.call('HGET', KEYS[1], 'sum:' .. ARGV[5]) or ''}
