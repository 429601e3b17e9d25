-- Fragment of commit and amend: one judged change, item k of ARGV. Items are 20 long:
--   1 id 2 token 3 old record 4 new record 5 from 6 to 7 lane 8 due 9 delay 10 kept 11 initial
--   12 url (= as it is, - none) 13 hold ends 14 event from ('' no event) 15 stage 16 reason
--   17 blame 18 detail 19 by 20 pause
-- clamp(due, delay, now) -> the due time, from now to now + delay, as a string
-- write(k, now, cap, id) writes record, counts, set and event; the caller has checked the record
local function clamp(due, delay, now)
  if due == '0' then return '' end
  return int(math.min(math.max(tonumber(due), now), now + delay))
end

local function write(k, now, cap, probe)
  local id, new, from, to = ARGV[k], ARGV[k + 3], ARGV[k + 4], ARGV[k + 5]
  if from ~= to then
    if from ~= '' then redis.call('HINCRBY', KEYS[9], from, -1) end
    redis.call('HINCRBY', KEYS[9], to, 1)
    if from == 'eligible' then new = leave(id, new) end
    if to == 'eligible' then enter(id, ARGV[k + 9], ARGV[k + 10]) end
  end
  redis.call('HSET', KEYS[2], id, new)
  if ARGV[k + 13] ~= '' then
    redis.call('XADD', KEYS[12], 'MAXLEN', '~', cap, '*', 'endpoint', id, 'from', ARGV[k + 13], 'to', to,
      'stage', ARGV[k + 14], 'reason', ARGV[k + 15], 'blame', ARGV[k + 16], 'by', ARGV[k + 18],
      'pause_ms', ARGV[k + 19], 'detail', ARGV[k + 17], 'at_ms', int(now), 'probe', probe)
  end
end
