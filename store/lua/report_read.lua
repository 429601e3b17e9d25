-- Reads reports for one daemon: first those that another daemon, or this one, took and did not
-- apply for long, then new ones. Keeps the stream, and what is remembered of it, bounded.
-- KEYS 1 reports 2 clock 3 meta 4 reported 5 suspects
-- ARGV 1-4 as in clock.lua 5 group 6 consumer 7 ms until taken ones are taken over 8 how many
--      9 bytes of a field 10 how often one is taken until it is given up 11 entries kept
-- Returns {now, id, at, size, ...} as report_entry.lua has it, all as strings
for i = 7, 11 do number(i) end
local now, n = pool_time(KEYS[2], false), number(8)
local reply = {int(now)}
for _, p in ipairs(redis.call('XPENDING', KEYS[1], ARGV[5], 'IDLE', ARGV[7], '-', '+', ARGV[8])) do
  local entry = p[4] < number(10) and redis.call('XCLAIM', KEYS[1], ARGV[5], ARGV[6], ARGV[7], p[1])[1]
  if entry then
    report(reply, entry, now)
    n = n - 1
  else -- trimmed, or nobody ever applies it
    redis.call('XACK', KEYS[1], ARGV[5], p[1])
    raise(KEYS[3], 'reports:lost', 1)
  end
end
local new = n > 0 and redis.call('XREADGROUP', 'GROUP', ARGV[5], ARGV[6], 'COUNT', int(n), 'STREAMS', KEYS[1], '>')
for _, entry in ipairs(new and new[1] and new[1][2] or {}) do report(reply, entry, now) end
redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', ARGV[11])
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[5], '-inf', int(now), 'LIMIT', 0, 200)) do
  redis.call('HDEL', KEYS[4], id)
  redis.call('ZREM', KEYS[5], id)
end
return reply
