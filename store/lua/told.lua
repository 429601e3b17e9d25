-- Fragment of repair: what is counted and told of the endpoint at ARGV[k], as picture.lua has it.
-- check_pictures(lanes) checks all arguments before the first write
-- recount(k)            moves it in the counts from its state as read to that from now on
-- tell(k, now)          counts the rules it broke as mended, and writes an event
local function check_pictures(lanes)
  number(5)
  if (#ARGV - 5) % 25 ~= 0 or #ARGV > 5005 then error('ARGV is not made of at most 200 endpoints') end
  for k = 6, #ARGV, 25 do check_picture(k, lanes) end
end

local function recount(k)
  local from, to = ARGV[k + 19], ARGV[k + 20]
  if from == to then return end
  if from ~= '' then redis.call('HINCRBY', KEYS[9], from, -1) end
  if to ~= '' then redis.call('HINCRBY', KEYS[9], to, 1) end
end

local function tell(k, now)
  for rule in string.gmatch(ARGV[k + 21], '%w+') do raise(KEYS[11], 'repaired:' .. rule, 1) end
  if ARGV[k + 22] == '' then return end
  redis.call('XADD', KEYS[12], 'MAXLEN', '~', ARGV[5], '*', 'endpoint', ARGV[k], 'from', ARGV[k + 22],
    'to', ARGV[k + 20] == '' and 'none' or ARGV[k + 20], 'stage', '', 'reason', '', 'blame', '', 'by', ARGV[k + 24],
    'pause_ms', '0', 'detail', ARGV[k + 23], 'at_ms', int(now), 'probe', '')
end
