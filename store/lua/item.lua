-- Fragment of commit and amend: what one judged change is. Items are 21 long, the first at ARGV[8]:
--   1 id 2 token 3 old record 4 new record 5 from 6 to 7 lane 8 due 9 delay 10 kept 11 initial
--   12 url (= as it is, - none) 13 hold ends 14 event from ('' no event) 15 stage 16 reason
--   17 blame 18 detail 19 by 20 pause 21 '1' when judged as under an open guard
-- check_items() fails before anything is written when one is not well formed
local homes = {candidate = 'candidate', eligible = 'recheck', cooling = 'recovery', permitted = 'recovery', disabled = 'disabled'}

local function check_item(k)
  local from, to = ARGV[k + 4], ARGV[k + 5]
  for _, i in ipairs({7, 8, 9, 12}) do number(k + i) end
  if ARGV[k + 10] ~= '' then number(k + 10) end
  if homes[to] ~= ARGV[k + 6] then error('ARGV ' .. k + 6 .. ' is not the lane of ' .. to) end
  if from ~= '' and not homes[from] then error('ARGV ' .. k + 4 .. ' is not a state') end
  if (from == '') ~= (ARGV[k + 2] == '') then error('ARGV ' .. k + 2 .. ' is not a record of this state') end
  if from ~= to and to ~= 'disabled' and ARGV[k + 7] == '0' then error('ARGV ' .. k + 7 .. ' is no due time') end
  if string.sub(ARGV[k + 3], 1, 1) ~= '{' then error('ARGV ' .. k + 3 .. ' is no record') end
end

local function check_items()
  number(5)
  if (#ARGV - 7) % 21 ~= 0 or #ARGV > 4207 then error('ARGV is not made of at most 200 items') end
  for k = 8, #ARGV, 21 do check_item(k) end
end
