-- Fragment of claim: what the trickle has learned from its cohorts.
-- A cohort is all that was admitted in one window: cohort K = now / window, and the field
--   `cohort:K` of budget is 'admitted limit passed failed' until it is judged, once.
-- learn(key, due, cohort, oldest, per_tick, most) -> admissions a window allows now
--   80 % passed: twice its limit; more than half failed: per_tick. What is in flight has not
--   passed. A younger cohort's judgement makes the older ones void. With nobody left to
--   admit or to judge the trickle starts anew.
local function learn(key, due, cohort, oldest, per_tick, most)
  local all, limit, open, known = redis.call('HGETALL', key), per_tick, {}, false
  for i = 1, #all, 2 do
    local k = string.match(all[i], '^cohort:(%d+)$')
    if k then table.insert(open, {bounded(k), all[i + 1]}) end
    if all[i] == 'trickle' then limit = bounded(all[i + 1]) end
  end
  table.sort(open, function(a, b) return a[1] > b[1] end)
  for _, c in ipairs(open) do
    local n, held, passed, failed = string.match(c[2], '^(%d+) (%d+) (%d+) (%d+)$')
    n, held, passed, failed = bounded(n), bounded(held), bounded(passed), bounded(failed)
    local up, down = passed >= 0.8 * n, failed > n / 2
    local over = known or c[1] < oldest or c[1] > cohort or passed + failed >= n
    if c[1] < cohort and not known and (up or down) then
      known, over = true, true
      if down then limit = per_tick elseif 2 * n >= held then limit = math.max(limit, 2 * held) end
    end
    if over and c[1] ~= cohort then redis.call('HDEL', key, 'cohort:' .. int(c[1])) end
  end
  if due == 0 and #open == 0 then limit = per_tick end
  return math.max(per_tick, math.min(limit, most))
end
