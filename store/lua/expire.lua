-- Fragment of claim: frees leases that have ended, at most 200 at a time.
-- expire(leases, tokens, lanes, now) -> how many
-- Each endpoint returns to the lane and place its token names; one disabled meanwhile waits nowhere.
local function expire(leases, tokens, lanes, now)
  local ids = redis.call('ZRANGEBYSCORE', leases, '-inf', '(' .. int(now), 'LIMIT', 0, 200)
  for _, id in ipairs(ids) do
    local lane, score = home(redis.call('HGET', tokens, id) or '', now)
    wait_in(lanes, lane, score, id)
    give_up(leases, tokens, id)
  end
  return #ids
end
