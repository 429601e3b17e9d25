-- Fragment of commit and amend: carries out the change at ARGV[k], as item.lua has it.
-- KEYS 1 eligible 2 endpoints 9 counts 12 events
-- clamp(k, now)        -> its due time, from now to now + delay, as a string; nil: as it is
-- write(k, now, probe) writes record, counts, set and event; the caller has checked the record
local function clamp(k, now)
  local due, delay = number(k + 7), number(k + 8)
  return due > 0 and int(math.min(math.max(due, now), now + delay)) or nil
end

local function write(k, now, probe)
  local id, new, from, to = ARGV[k], ARGV[k + 3], ARGV[k + 4], ARGV[k + 5]
  if from ~= to then
    if from ~= '' then redis.call('HINCRBY', KEYS[9], from, -1) end
    redis.call('HINCRBY', KEYS[9], to, 1)
    if from == 'eligible' then new = leave(id, new) end
    if to == 'eligible' then enter(id, ARGV[k + 9], ARGV[k + 10]) end
  end
  redis.call('HSET', KEYS[2], id, new)
  if ARGV[k + 13] ~= '' then
    redis.call('XADD', KEYS[12], 'MAXLEN', '~', ARGV[5], '*', 'endpoint', id, 'from', ARGV[k + 13], 'to', to,
      'stage', ARGV[k + 14], 'reason', ARGV[k + 15], 'blame', ARGV[k + 16], 'by', ARGV[k + 18],
      'pause_ms', ARGV[k + 19], 'detail', ARGV[k + 17], 'at_ms', int(now), 'probe', probe)
  end
end
