-- Opens or closes the guard, unless somebody else did so meanwhile, and tells it.
-- KEYS 1 meta 2 events 3 clock
-- ARGV 1-4 as in clock.lua 5 events kept 6 '1' to open, '0' to close 7 why
--      8 pool time since which failures count as part of the outage
-- Returns {1 when it moved, pool time now}, as strings
local now, open = pool_time(KEYS[3], false), ARGV[6] == '1'
number(5)
number(8)
if (bounded(redis.call('HGET', KEYS[1], 'guard_ms')) > 0) == open then return {'0', int(now)} end
redis.call('HSET', KEYS[1], 'guard_ms', open and int(now) or '0', 'guard_why', ARGV[7], 'guard_since', ARGV[8])
if open then raise(KEYS[1], 'guard_opened', 1) end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[5], '*', 'endpoint', '*', 'from', open and 'closed' or 'open',
  'to', open and 'open' or 'closed', 'stage', '', 'reason', 'guard', 'blame', '', 'by', 'guard', 'pause_ms', '0',
  'detail', ARGV[7], 'at_ms', int(now), 'probe', '')
return {'1', int(now)}
