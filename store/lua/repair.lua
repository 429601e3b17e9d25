-- Has endpoints stand as they shall, each only if it still stands as it was read: mends what
-- is broken, and puts in what an export holds.
-- KEYS 1 eligible 2 endpoints 3-6 lanes 7 leases 8 tokens 9 counts 10 clock 11 meta 12 events
--      13 urls 14 holds 15 inflight 16 engaged
-- ARGV 1-4 as in clock.lua 5 events kept, then endpoints as in picture.lua
-- Returns a code for each: 0 written, 2 it stands differently: nothing written
local now, lanes, codes = pool_time(KEYS[10], false), lane_keys(3), {}
check_pictures(lanes)
for k = 6, #ARGV, 25 do
  local same = as_read(k)
  if same then
    stand(k, lanes)
    recount(k)
    tell(k, now)
  end
  table.insert(codes, same and 0 or 2)
end
return codes
