-- Applies results of probes, each only with the token of its live lease and onto the
-- exact record it was judged against.
-- KEYS 1 eligible 2 endpoints 3-6 lanes 7 leases 8 tokens 9 counts 10 clock 11 meta 12 events
--      13 budget 14 guard 15 inflight 16 engaged
-- ARGV 1-4 as in clock.lua 5 events kept 6 floor, a number or a share with % 7 lines of
--      KIND AT ID for the guard, oldest first, then items as in item.lua
-- Returns a code for each item: 0 applied, 1 late (not the live lease), 2 the record changed,
--      4 the guard is open and the item was judged as if it were not, 5 it would go below the floor
check_items()
local floor = floor_of(ARGV[6])
local now, lanes, codes = pool_time(KEYS[10], true), lane_keys(3), {}
for k = 8, #ARGV, 21 do
  local id, live = ARGV[k], redis.call('HGET', KEYS[8], ARGV[k])
  local code = refusal(k, live, floor)
  if code == 0 then
    local lane, score = home(live, now)
    local due = clamp(k, now)
    if due or ARGV[k + 6] == 'disabled' then lane, score = ARGV[k + 6], due end
    write(k, now, plain(nonce(live)))
    trial(KEYS[13], nonce(live), ARGV[k + 4], ARGV[k + 5])
    give_up(KEYS[7], KEYS[8], id)
    wait_in(lanes, lane, score, id)
  end
  table.insert(codes, code)
end
for line in string.gmatch(ARGV[7], '[^\n]+') do redis.call('LPUSH', KEYS[14], line) end
redis.call('LTRIM', KEYS[14], 0, 49)
redis.call('HSET', KEYS[11], 'last_commit_ms', int(now))
return codes
