-- Fragment of claim and commit: the books of the trickle, see trickle.lua.
-- The nonce of a trial's lease ends with its cohort: NONCE~COHORT.
-- enter_book(key, cohort, limit)    one more is admitted while the window allows `limit`
-- trial(key, nonce, from, to)       its result: it passed unless the endpoint cools; a result
--   for a withdrawn endpoint, or for a cohort that was judged, tells nothing
-- plain(nonce)                      without the cohort, as events have it
local function enter_book(key, cohort, limit)
  local book = redis.call('HGET', key, 'cohort:' .. cohort) or ''
  local n, held, results = string.match(book, '^(%d+) (%d+)( %d+ %d+)$')
  redis.call('HSET', key, 'cohort:' .. cohort, int(bounded(n) + 1) .. ' ' .. int(math.max(bounded(held), limit)) .. (results or ' 0 0'))
end

local function trial(key, nonce, from, to)
  local cohort = string.match(nonce, '~(%d+)$')
  local book = cohort and from ~= 'disabled' and redis.call('HGET', key, 'cohort:' .. cohort)
  local n, held, passed, failed = string.match(book or '', '^(%d+) (%d+) (%d+) (%d+)$')
  if not n then return end
  passed, failed = bounded(passed), bounded(failed)
  if to == 'eligible' or to == 'permitted' then passed = passed + 1 else failed = failed + 1 end
  redis.call('HSET', key, 'cohort:' .. cohort, n .. ' ' .. held .. ' ' .. int(passed) .. ' ' .. int(failed))
end

local function plain(nonce) return string.match(nonce, '^[^~]*') end
