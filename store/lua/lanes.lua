-- Fragment: the four lanes, in the order they are served, and who is served next.
-- lane_keys(first)         -> the lanes' keys by name, KEYS[first] being urgent
-- refill(key, now, rate)   -> whole probes the fleet may start now: a bucket of one second
-- fair(queues, recent)     -> next lane, recent: the first lane in order with due work, but one
--                             with fewer than 10 of the last 100 grants goes before all others
local order = {'urgent', 'recovery', 'recheck', 'candidate'}
local letter = {urgent = 'u', recovery = 'r', recheck = 'k', candidate = 'c'}

local function lane_keys(first)
  return {urgent = KEYS[first], recovery = KEYS[first + 1], recheck = KEYS[first + 2], candidate = KEYS[first + 3]}
end

local function refill(key, now, rate)
  local b = redis.call('HMGET', key, 'tokens', 'at_ms')
  local gained = (now - tonumber(b[2] or now)) * rate / 1000
  return math.min(math.max(rate, 1), tonumber(b[1] or math.max(rate, 1)) + math.max(gained, 0))
end

local function fair(queues, recent)
  local chosen, starving
  for _, lane in ipairs(order) do
    if queues[lane][1] then
      local _, share = string.gsub(recent, letter[lane], '')
      chosen = chosen or lane
      starving = starving or (share < 10 and lane)
    end
  end
  chosen = starving or chosen
  return chosen, string.sub(recent .. letter[chosen], -100)
end
