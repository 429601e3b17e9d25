-- Fragment: frees leases that have ended, at most 200 at a time.
-- expire(leases, tokens, lanes, now) -> how many
-- Each endpoint returns to the lane and place its token names, LANE.SCORE.NONCE; the
-- lane of one disabled meanwhile is `disabled`: it waits nowhere.
local function expire(leases, tokens, lanes, now)
  local ids = redis.call('ZRANGEBYSCORE', leases, '-inf', '(' .. int(now), 'LIMIT', 0, 200)
  for _, id in ipairs(ids) do
    local lane, score = string.match(redis.call('HGET', tokens, id) or '', '^(%a+)%.(%d+)%.')
    if lane and lanes[lane] then redis.call('ZADD', lanes[lane], score, id) end
    redis.call('ZREM', leases, id)
    redis.call('HDEL', tokens, id)
  end
  return #ids
end
