-- Applies results of probes, each only with the token of its live lease and onto the
-- exact record it was judged against.
-- KEYS 1 eligible 2 endpoints 3-6 lanes 7 leases 8 tokens 9 counts 10 clock 11 meta 12 events
-- ARGV 1-4 as in clock.lua 5 events kept, then items as in item.lua
-- Returns a code for each item: 0 applied, 1 late (not the live lease), 2 the record changed
check_items()
local now, lanes, codes = pool_time(KEYS[10], true), lane_keys(3), {}
for k = 6, #ARGV, 20 do
  local id, live, code = ARGV[k], redis.call('HGET', KEYS[8], ARGV[k]), 0
  if not live or nonce(live) ~= nonce(ARGV[k + 1]) then
    code = 1
  elseif redis.call('HGET', KEYS[2], id) ~= ARGV[k + 2] then
    code = 2
  else
    local lane, score = home(live, now)
    local due = clamp(k, now)
    if due or ARGV[k + 6] == 'disabled' then lane, score = ARGV[k + 6], due end
    write(k, now, nonce(live))
    give_up(KEYS[7], KEYS[8], id)
    wait_in(lanes, lane, score, id)
  end
  table.insert(codes, code)
end
redis.call('HSET', KEYS[11], 'last_commit_ms', int(now))
return codes
