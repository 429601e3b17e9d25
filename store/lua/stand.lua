-- Fragment of repair: has the endpoint at ARGV[k] stand as picture.lua says.
-- stand(k, lanes) writes record, place, lease, url and hold. What leaves the eligible set takes its
--   allocations along: what was kept or what the set counted, whichever is more; a score that
--   counts nothing is none
local function seat(k, id, member, record)
  local score = redis.call('ZSCORE', KEYS[1], id)
  local counted = tonumber(score) or 0
  if member ~= 'in' then redis.call('ZREM', KEYS[1], id) end
  if member == 'anew' or member == 'in' and not score then enter(id, ARGV[k + 12], ARGV[k + 13]) end
  local kept = int(math.max(number(k + 12), counted <= most and counted or 0))
  if record == '' or member ~= '' or kept == '0' then return record end
  return string.sub(record, 1, -2) .. ',"allocations":' .. kept .. '}'
end

local function stand(k, lanes)
  local id, token, url, ends = ARGV[k], ARGV[k + 16], ARGV[k + 17], ARGV[k + 18]
  local record = seat(k, id, ARGV[k + 11], ARGV[k + 10])
  if record == '' then redis.call('HDEL', KEYS[2], id) else redis.call('HSET', KEYS[2], id, record) end
  for i = 3, 6 do redis.call('ZREM', KEYS[i], id) end
  if token ~= '' then redis.call('HSET', KEYS[8], id, token) else give_up(KEYS[7], KEYS[8], id) end
  if token == '' then wait_in(lanes, ARGV[k + 14], ARGV[k + 15], id) end
  if url == '-' then redis.call('HDEL', KEYS[13], id) elseif url ~= '=' then redis.call('HSET', KEYS[13], id, url) end
  if redis.call('ZSCORE', KEYS[1], id) then join(id) else part(id) end
  if ends == '' then redis.call('ZREM', KEYS[14], id) else redis.call('ZADD', KEYS[14], ends, id) end
end
