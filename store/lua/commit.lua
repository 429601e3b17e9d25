-- Applies results of probes, each only with the token of its live lease and onto the
-- exact record it was judged against.
-- KEYS 1 eligible 2 endpoints 3-6 lanes 7 leases 8 tokens 9 counts 10 clock 11 meta 12 events
-- ARGV 1 last 2 elapsed 3 slack 4 lease ms 5 events kept, then items as in move.lua
-- Returns a code for each item: 0 applied, 1 late (not the live lease), 2 the record changed
local now = pool_time(KEYS[10], {last = tonumber(ARGV[1]), elapsed = tonumber(ARGV[2]),
  slack = tonumber(ARGV[3]), lease = tonumber(ARGV[4]), moves = true})
local codes = {}
for k = 6, #ARGV, 20 do
  local id, nonce = ARGV[k], string.match(ARGV[k + 1], '[^.]*$')
  local live = redis.call('HGET', KEYS[8], id)
  if not live or string.match(live, '[^.]*$') ~= nonce then
    table.insert(codes, 1)
  elseif redis.call('HGET', KEYS[2], id) ~= ARGV[k + 2] then
    table.insert(codes, 2)
  else
    write(k, now, ARGV[5], nonce)
    redis.call('ZREM', KEYS[7], id)
    redis.call('HDEL', KEYS[8], id)
    place(id, ARGV[k + 6], clamp(ARGV[k + 7], ARGV[k + 8], now))
    table.insert(codes, 0)
  end
end
redis.call('HSET', KEYS[11], 'last_commit_ms', int(now))
return codes
