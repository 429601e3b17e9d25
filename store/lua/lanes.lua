-- Fragment: the four lanes, and leases: an endpoint is in one lane, or leased.
-- lane_keys(first)               -> the lanes' keys by name, KEYS[first] being urgent
-- nonce(token)                   -> what proves a lease; the rest of LANE.SCORE.NONCE says where the
--                                   endpoint goes when the lease ends without a result
-- home(token, now)               -> lane, score
-- give_up(leases, tokens, id)       ends the lease
-- wait_in(lanes, lane, score, id)   puts it into a lane; into none for `disabled`
local order = {'urgent', 'recovery', 'recheck', 'candidate'}

local function lane_keys(first)
  return {urgent = KEYS[first], recovery = KEYS[first + 1], recheck = KEYS[first + 2], candidate = KEYS[first + 3]}
end

local function nonce(token) return string.match(token, '[^.]*$') end

local function home(token, now)
  return string.match(token, '^%a*'), string.match(token, '^%a+%.(%d+)%.') or int(now)
end

local function give_up(leases, tokens, id)
  redis.call('ZREM', leases, id)
  redis.call('HDEL', tokens, id)
end

local function wait_in(lanes, lane, score, id)
  if lanes[lane] then redis.call('ZADD', lanes[lane], score, id) end
end
