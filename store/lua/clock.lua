-- Fragment: the pool's time in milliseconds, from Redis's own clock and the `clock` hash.
-- ARGV 1 the caller's last pool time; 0: its first call
--      2 ms on the caller's monotonic clock since then
--      3 a leap up to this many ms is taken for real (2 s + call timeout)
--      4 the lease period in ms: how long no lease expires after a correction
-- pool_time(key, moves) -> now, held: before `held` no lease expires
--   moves false: reads the clock, with the same corrections, and never moves it
--   what in `clock` is no number, or 30 years away, counts as absent
local aeon = 10 ^ 12

local function pool_time(key, moves)
  local last, elapsed, slack, lease = number(1), number(2), number(3), number(4)
  local t, c = redis.call('TIME'), redis.call('HMGET', key, 'offset', 'high', 'held')
  local offset, high, held = tonumber(c[1]) or 0, bounded(c[2]), bounded(c[3])
  local now = t[1] * 1000 + math.floor(t[2] / 1000)
  if not (math.abs(offset) < aeon) then offset = 0 end
  if high > now + aeon then high = 0 end
  now = now + offset
  local known, shift = math.max(high, last + elapsed), 0
  if now < math.max(high, last) then
    shift = math.max(high, last) - now
  elseif last > 0 and now > known + slack then
    shift = known - now
  end
  now = now + shift
  if not moves then return now, held end
  held = shift ~= 0 and now + lease or math.min(held, now + lease)
  redis.call('HSET', key, 'offset', int(offset + shift), 'high', int(now), 'held', int(held))
  return now, held
end
