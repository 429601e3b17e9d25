-- Applies reports and acknowledges them, both or neither: what was judged of the reports about
-- each endpoint, only onto exactly what it was judged on.
-- KEYS 1-4 lanes 5 leases 6 clock 7 meta 8 reports 9 reported 10 suspects 11 eligible 12 budget
--      13 events
-- ARGV 1-4 as in clock.lua 5 events kept 6 group 7 priority of what is asked for 8 probes per second
--      that reports may ask for, then items as in report_item.lua
-- Returns a code for each: 0 applied, 1 an entry was no longer pending, 2 what it was judged on
--   changed, 3 applied and moved to the urgent lane, 4 applied, not asked for: too many were, 5 applied
--   and its recheck put off. Nothing was written where it is 1 or 2.
check_reports()
local now, codes, words = pool_time(KEYS[6], false), {}, {[3] = 'asked', [4] = 'throttled', [5] = 'stretched'}
local asks = asks_left(now)
for k = 9, #ARGV, 13 do
  local code, state = still(k), nil
  if code == 0 then
    settle(k)
    if ARGV[k] ~= '' then
      code, state = follow(k, asks, now)
      remember(k, state)
    end
  end
  if code == 3 then asks = asks - 1 end
  if words[code] then count(words[code]) end
  table.insert(codes, code)
end
redis.call('HSET', KEYS[12], 'asks', string.format('%.9f', asks), 'asks_ms', int(now))
return codes
