-- Fragment of commit: why a result is not applied.
-- KEYS 1 eligible 2 endpoints 8 tokens 11 meta
-- floor_of(text)            -> how many stay eligible whatever happens: a number, or a share of all records
-- refusal(k, live, floor)   -> the code for the item at ARGV[k], whose live token is `live`; 0: it is applied
local function floor_of(text)
  local share, n = string.match(text, '^([%d.]+)%%$'), tonumber(text)
  if share then n = math.ceil(redis.call('HLEN', KEYS[2]) * tonumber(share) / 100) end
  if not (n and n >= 0 and n <= most) then error('ARGV 6 is not a number or a share in %') end
  return n
end

local function refusal(k, live, floor)
  local id, from, to = ARGV[k], ARGV[k + 4], ARGV[k + 5]
  if not live or nonce(live) ~= nonce(ARGV[k + 1]) then return 1 end
  if redis.call('HGET', KEYS[2], id) ~= ARGV[k + 2] then return 2 end
  local out = to == 'cooling' or to == 'disabled' and from ~= 'disabled'
  if not out then return 0 end
  if ARGV[k + 20] ~= '1' and bounded(redis.call('HGET', KEYS[11], 'guard_ms')) > 0 then return 4 end
  return from == 'eligible' and redis.call('ZCARD', KEYS[1]) <= floor and 5 or 0
end
