-- Fragment of claim: moves the next endpoint of a lane's queue into a lease and adds it to the reply.
-- grant(lanes, lane, queue, nonce, now, cohort, limit, reply)
local function grant(lanes, lane, queue, nonce, now, cohort, limit, reply)
  local id, score = queue[queue.at], int(bounded(queue[queue.at + 1]))
  local token = lane .. '.' .. score .. '.' .. nonce .. (lane == 'recovery' and '~' .. cohort or '')
  queue.at = queue.at + 2
  redis.call('ZREM', lanes[lane], id)
  redis.call('ZADD', KEYS[7], int(now + ARGV[4]), id)
  redis.call('HSET', KEYS[8], id, token)
  if lane == 'recovery' then
    enter_book(KEYS[11], cohort, limit)
    redis.call('ZADD', KEYS[9], int(now), token)
    redis.call('XADD', KEYS[13], 'MAXLEN', '~', ARGV[12], '*', 'endpoint', id, 'from', 'cooling', 'to', 'permitted',
      'by', 'probe', 'at_ms', int(now), 'probe', nonce)
  end
  for _, v in ipairs({id, lane, token, redis.call('HGET', KEYS[1], id) or '', redis.call('HGET', KEYS[2], id) or ''}) do
    table.insert(reply, v)
  end
end
