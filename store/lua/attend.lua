-- Fragment of claim: who is alive, and whose configuration of the check counts.
-- KEYS 12 daemons 14 meta
-- ARGV 5 daemon 14 fingerprint of its configuration, '' not known 15 '1' when it was just loaded, else '0'
-- attend(now, alive) -> live daemons; nil when another configuration was loaded later and a
--   daemon with it lives: then this one stands by
local function attend(now, alive)
  local mine, loaded, owner = ARGV[14], number(15) == 1, redis.call('HGET', KEYS[14], 'fingerprint')
  redis.call('ZREMRANGEBYSCORE', KEYS[12], '-inf', '(' .. int(now - alive))
  redis.call('ZREMRANGEBYSCORE', KEYS[12], '(' .. int(now + alive), '+inf')
  if mine ~= '' and owner ~= mine then
    if owner and not loaded then
      redis.call('ZREM', KEYS[12], ARGV[5])
      if redis.call('ZCARD', KEYS[12]) > 0 then return nil end
    end
    redis.call('HSET', KEYS[14], 'fingerprint', mine)
  end
  redis.call('ZADD', KEYS[12], int(now), ARGV[5])
  return redis.call('ZCARD', KEYS[12])
end
