-- Fragment of claim: what may be granted now.
-- count_due(lanes, now, admits)  -> due endpoints by lane, their sum; of recovery at most `admits`
-- first_due(lanes, now, n, due)  -> the first of them by lane, at most n each: id, score, id, score, ...
local function till(lane, now) return lane == 'urgent' and '+inf' or int(now) end

local function count_due(lanes, now, admits)
  local due, sum = {}, 0
  for _, lane in ipairs(order) do
    due[lane] = redis.call('ZCOUNT', lanes[lane], '-inf', till(lane, now))
    if lane == 'recovery' then due[lane] = math.min(due[lane], math.max(admits, 0)) end
    sum = sum + due[lane]
  end
  return due, sum
end

local function first_due(lanes, now, n, due)
  local queues = {}
  for _, lane in ipairs(order) do
    queues[lane] = redis.call('ZRANGEBYSCORE', lanes[lane], '-inf', till(lane, now), 'WITHSCORES', 'LIMIT', 0, math.min(n, due[lane]))
    queues[lane].at = 1
  end
  return queues
end
