-- Fragment: the pool's time in milliseconds, from Redis's own clock and the `clock` hash.
-- pool_time(key, call) -> now, held
--   call.last     the caller's last pool time; 0: its first call
--   call.elapsed  milliseconds on the caller's monotonic clock since then
--   call.slack    a leap up to this is taken for real (2 s + call timeout)
--   call.lease    the lease period; held: until then no lease expires
--   call.moves    false: a command, which reads the clock and never moves it
local function int(n) return string.format('%.0f', n) end

local function pool_time(key, call)
  local t, c = redis.call('TIME'), redis.call('HMGET', key, 'offset', 'high', 'held')
  local offset, high, held = tonumber(c[1] or 0), tonumber(c[2] or 0), tonumber(c[3] or 0)
  local now = t[1] * 1000 + math.floor(t[2] / 1000) + offset
  local known, shift = math.max(high, call.last + call.elapsed), 0
  if now < high then
    shift = high - now
  elseif call.last > 0 and now > known + call.slack then
    shift = known - now
  end
  now = now + shift
  if not call.moves then return now, held end
  if shift ~= 0 then held = now + call.lease end
  redis.call('HSET', key, 'offset', int(offset + shift), 'high', int(now), 'held', int(held))
  return now, held
end
