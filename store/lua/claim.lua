-- Claims what is due for one daemon, lane by lane, as far as budgets and slots allow.
-- KEYS 1 endpoints 2 urls 3-6 due:urgent due:recovery due:recheck due:candidate 7 leases
--      8 tokens 9 admitted 10 clock 11 budget 12 daemons 13 events 14 meta
-- ARGV 1-4 as in clock.lua 5 daemon 6 nonce 7 slots 8 per_tick 9 window ms 10 rate per s
--      11 ms after which a silent daemon is dead 12 events kept 13 max_per_tick
--      14-15 as in attend.lua
-- Returns {now, freed, due left, records, daemons, 0 standing by, trickle, guard open since or 0,
--      id, lane, token, record, url, ...}, all as strings
local slots, per_tick, window, rate, alive, most = number(7), number(8), number(9), number(10), number(11), number(12) and number(15) and number(13)
local lanes, now, held = lane_keys(3), pool_time(KEYS[10], true)
local live, freed = attend(now, alive), now >= held and expire(KEYS[7], KEYS[8], lanes, now) or 0
if not live then return {int(now), int(freed), '0', int(redis.call('HLEN', KEYS[1])), '0', '0', '0'} end
redis.call('ZREMRANGEBYSCORE', KEYS[9], '-inf', '(' .. int(now - window))
local budget, guard = refill(KEYS[11], now, rate), int(math.min(bounded(redis.call('HGET', KEYS[14], 'guard_ms')), now))
most = guard == '0' and math.min(most, math.floor(rate * window / 1000)) or per_tick
local cohort, ended = math.floor(now / math.max(window, 1)), math.floor((now - ARGV[4]) / math.max(window, 1))
local limit = learn(KEYS[11], redis.call('ZCOUNT', KEYS[4], '-inf', int(now)), cohort, ended, per_tick, most)
local due, sum = count_due(lanes, now, limit - redis.call('ZCARD', KEYS[9]))
local n = math.min(slots, math.floor(budget), math.ceil(sum / live), 200)
local queues, recent = first_due(lanes, now, n, due), redis.call('HGET', KEYS[11], 'grants') or ''
local reply = {int(now), int(freed), int(sum - n), int(redis.call('HLEN', KEYS[1])), int(live), int(limit), guard}
for i = 1, n do
  local lane
  lane, recent = fair(queues, recent)
  grant(lanes, lane, queues[lane], ARGV[6] .. i, now, int(cohort), limit, reply)
end
redis.call('HSET', KEYS[11], 'tokens', string.format('%.9f', budget - n), 'at_ms', int(now), 'grants', recent, 'trickle', int(limit))
return reply
