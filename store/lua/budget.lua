-- Fragment of claim: how many probes the fleet may start now.
-- refill(key, now, rate) -> what is in a bucket that holds one second's worth, and at least one
local function refill(key, now, rate)
  local b, full = redis.call('HMGET', key, 'tokens', 'at_ms'), math.max(rate, 1)
  local gained = (now - (tonumber(b[2]) or now)) * rate / 1000
  return math.min(full, (b[1] and bounded(b[1]) or full) + math.max(gained, 0))
end
