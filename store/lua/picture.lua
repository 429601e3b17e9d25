-- Fragment of repair: an endpoint as it was read, and as it shall stand. 25 values, the first at ARGV[6]:
--   1 id; as read, '' for none: 2 record 3 '1' member 4-7 lanes 8 lease 9 token 10 end of the hold;
--   as it shall stand: 11 record ('' none) 12 member ('' no, in: as it is, anew: at a new score)
--   13 kept allocations 14 exact score of a new member ('' by the rule) 15 lane (disabled: none)
--   16 due 17 token ('' no lease) 18 url (= as it is, - none) 19 end of the hold ('' none)
--   20 state in the counts as read ('' none) 21 from now on 22 rules it broke
--   23 event from ('' no event) 24 detail 25 by
-- check_pictures() fails before anything is written when one is not well formed
-- as_read(k)       -> whether the endpoint still stands as it was read
local states = {[''] = true, candidate = true, eligible = true, cooling = true, permitted = true, disabled = true}

local function check_picture(k, lanes)
  local record, lane = ARGV[k + 10], ARGV[k + 14]
  for _, i in ipairs({12, 15}) do number(k + i) end
  for _, i in ipairs({13, 18}) do if ARGV[k + i] ~= '' then number(k + i) end end
  if record ~= '' and string.sub(record, 1, 1) ~= '{' then error('ARGV ' .. k + 10 .. ' is no record') end
  if not lanes[lane] and lane ~= 'disabled' then error('ARGV ' .. k + 14 .. ' is no lane') end
  for i = 19, 20 do
    if not states[ARGV[k + i]] then error('ARGV ' .. k + i .. ' is no state') end
    if not string.match(redis.call('HGET', KEYS[9], ARGV[k + i]) or '0', '^-?%d+$') then error('a count is no number') end
  end
  local token = ARGV[k + 16]
  if token ~= '' and not string.match(token, '^%a+%.%d+%.[^.]+$') then error('ARGV ' .. k + 16 .. ' is no token') end
  if (record == '') ~= (ARGV[k + 20] == '') then error('ARGV ' .. k + 20 .. ' is not the state of its record') end
  if record == '' and ARGV[k + 11] .. token .. ARGV[k + 18] ~= '' then error('ARGV ' .. k .. ' has no record') end
end

local function as_read(k)
  local id, same = ARGV[k], (redis.call('ZSCORE', KEYS[1], ARGV[k]) and '1' or '') == ARGV[k + 2]
  for i = 3, 7 do same = same and (redis.call('ZSCORE', KEYS[i], id) or '') == ARGV[k + i] end
  same = same and (redis.call('HGET', KEYS[8], id) or '') == ARGV[k + 8] and (redis.call('ZSCORE', KEYS[14], id) or '') == ARGV[k + 9]
  return same and (redis.call('HGET', KEYS[2], id) or '') == ARGV[k + 1]
end
