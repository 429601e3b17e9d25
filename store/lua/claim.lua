-- Claims what is due for one daemon, lane by lane, as far as budgets and slots allow.
-- KEYS 1 endpoints 2 urls 3-6 due:urgent due:recovery due:recheck due:candidate 7 leases
--      8 tokens 9 admitted 10 clock 11 budget 12 daemons 13 events
-- ARGV 1 last 2 elapsed 3 slack (ms) 4 lease ms 5 daemon 6 nonce 7 slots 8 per_tick
--      9 window ms 10 rate per s 11 ms after which a silent daemon is dead 12 events kept
-- Returns, all as strings, {now, freed, due left, records, daemons, id, lane, token, record, url, ...}
local lanes = lane_keys(3)
local now, held = pool_time(KEYS[10], {last = tonumber(ARGV[1]), elapsed = tonumber(ARGV[2]),
  slack = tonumber(ARGV[3]), lease = tonumber(ARGV[4]), moves = true})
local freed = now >= held and expire(KEYS[7], KEYS[8], lanes, now) or 0
redis.call('ZADD', KEYS[12], int(now), ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[12], '-inf', int(now - ARGV[11]))
redis.call('ZREMRANGEBYSCORE', KEYS[9], '-inf', int(now - ARGV[9]))
local live, budget, total, queues, due = redis.call('ZCARD', KEYS[12]), refill(KEYS[11], now, tonumber(ARGV[10])), 0, {}, {}
for _, lane in ipairs(order) do
  due[lane] = redis.call('ZCOUNT', lanes[lane], '-inf', lane == 'urgent' and '+inf' or int(now))
  if lane == 'recovery' then due[lane] = math.max(0, math.min(due[lane], ARGV[8] - redis.call('ZCARD', KEYS[9]))) end
  total = total + due[lane]
end
local n = math.max(0, math.min(tonumber(ARGV[7]), math.floor(budget), math.ceil(total / live), 200))
for _, lane in ipairs(order) do
  queues[lane] = redis.call('ZRANGEBYSCORE', lanes[lane], '-inf', lane == 'urgent' and '+inf' or int(now),
    'WITHSCORES', 'LIMIT', 0, math.min(n, due[lane]))
end
local recent, reply = redis.call('HGET', KEYS[11], 'grants') or '', {int(now), int(freed), int(total - n), int(redis.call('HLEN', KEYS[1])), int(live)}
for i = 1, n do
  local lane
  lane, recent = fair(queues, recent)
  local id, score = table.remove(queues[lane], 1), table.remove(queues[lane], 1)
  grant(lanes[lane], lane, id, lane .. '.' .. int(score) .. '.' .. ARGV[6] .. i, now, reply)
end
redis.call('HSET', KEYS[11], 'tokens', tostring(budget - n), 'at_ms', int(now), 'grants', recent)
return reply
