-- Returns leases whose probes did not take place, or were our own fault.
-- KEYS 1-4 lanes 5 leases 6 tokens 7 clock
-- ARGV 1-4 as in clock.lua, then id, token, lane, delay ms for each; delay '' returns it to the
--      lane and place it was claimed from, or to where it was sent while it was leased
-- Returns a code for each: 0 returned, 1 late (not the live lease)
for k = 5, #ARGV, 4 do
  if not ARGV[k + 3] or ARGV[k + 3] ~= '' then number(k + 3) end
end
local lanes, codes, now = lane_keys(1), {}, pool_time(KEYS[7], true)
for k = 5, #ARGV, 4 do
  local id, token, code = ARGV[k], ARGV[k + 1], 0
  local live = redis.call('HGET', KEYS[6], id)
  if not live or nonce(live) ~= nonce(token) then
    code = 1
  else
    local lane, score = home(live, now)
    if live == token and ARGV[k + 3] ~= '' then lane, score = ARGV[k + 2], int(now + ARGV[k + 3]) end
    give_up(KEYS[5], KEYS[6], id)
    wait_in(lanes, lane, score, id)
  end
  table.insert(codes, code)
end
return codes
