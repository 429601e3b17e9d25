-- Fragment: arguments, checked before the first write: an error later would leave half a move.
-- number(i)     -> ARGV[i], not negative and exact as a double; else the script fails
-- int(n)        -> n as a whole number in digits
-- raise(key, field, n) adds n to a number in a hash; what is no number is none
-- bounded(n)    -> n within what is exact as a double: a score can have been written by anybody
local most = 2 ^ 53 - 1

local function number(i)
  local n = tonumber(ARGV[i])
  if not (n and n >= 0 and n <= most) then error('ARGV ' .. i .. ' is not a number in range') end
  return n
end

local function int(n) return string.format('%.0f', n) end

local function bounded(n)
  n = tonumber(n) or 0
  if n ~= n then n = 0 end
  return math.min(math.max(n, 0), most)
end

local function raise(key, field, n)
  redis.call('HSET', key, field, int(bounded(redis.call('HGET', key, field)) + n))
end
