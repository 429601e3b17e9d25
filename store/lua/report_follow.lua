-- Fragment of report_apply: what follows for the endpoint of the item at ARGV[k].
-- asks_left(now)      -> how many probes reports may ask for now: a bucket of one second's worth, at
--                       least one, for the whole fleet
-- follow(k, asks, now) -> code, what is remembered: 0 nothing, 3 moved to the urgent lane, 4 not asked
--                       for, since reports asked for too many, 5 its recheck was put off
local function asks_left(now)
  local b, rate = redis.call('HMGET', KEYS[12], 'asks', 'asks_ms'), number(8)
  local full = math.max(rate, 1)
  return math.min(full, (tonumber(b[1] or full) or 0) + math.max(now - (tonumber(b[2]) or now), 0) * rate / 1000)
end

local function tell(k, now)
  redis.call('XADD', KEYS[13], 'MAXLEN', '~', ARGV[5], '*', 'endpoint', ARGV[k], 'from', 'eligible', 'to', 'eligible', 'stage', ARGV[k + 10],
    'reason', ARGV[k + 11], 'blame', '', 'by', 'report', 'pause_ms', '0', 'detail', ARGV[k + 12], 'at_ms', int(now), 'probe', '')
end

local function follow(k, asks, now)
  local id, due, to = ARGV[k], redis.call('ZSCORE', KEYS[3], ARGV[k]), number(k + 9)
  if ARGV[k + 6] ~= '' then
    if asks < 1 then return 4, ARGV[k + 5] end
    if urge(id, number(7), now) ~= 1 then return 0, ARGV[k + 6] end
    tell(k, now)
    return 3, ARGV[k + 6]
  end
  if not due or tonumber(due) ~= number(k + 8) or to <= tonumber(due) then return 0, ARGV[k + 5] end
  redis.call('ZADD', KEYS[3], int(to), id)
  return 5, ARGV[k + 5]
end
