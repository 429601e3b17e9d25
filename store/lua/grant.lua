-- Fragment of claim: moves one endpoint from its lane into a lease and adds it to the reply.
-- grant(key, lane, id, token, now, reply)
local function grant(key, lane, id, token, now, reply)
  redis.call('ZREM', key, id)
  redis.call('ZADD', KEYS[7], int(now + ARGV[4]), id)
  redis.call('HSET', KEYS[8], id, token)
  if lane == 'recovery' then
    redis.call('ZADD', KEYS[9], int(now), token)
    redis.call('XADD', KEYS[13], 'MAXLEN', '~', ARGV[12], '*', 'endpoint', id, 'from', 'cooling', 'to', 'permitted',
      'by', 'probe', 'at_ms', int(now), 'probe', string.match(token, '[^.]*$'))
  end
  for _, v in ipairs({id, lane, token, redis.call('HGET', KEYS[1], id) or '', redis.call('HGET', KEYS[2], id) or ''}) do
    table.insert(reply, v)
  end
end
