-- Fragment of report_apply: what one item is. Items are 13 long, the first at ARGV[9]:
--   1 endpoint, '' where the entries are only acknowledged 2 ids of the entries, with spaces between
--   3 1: they are deleted too 4 what they count as: WORD N WORD N 5 what was remembered, as read
--   6 what is remembered then 7 the same once it was asked for; '': it is not 8 pool time at which
--   that is worth nothing any more 9 due time of the recheck as read 10 the one it is put off to; 0: it
--   stays 11 stage 12 reason 13 detail of the event
-- check_reports() fails before anything is written when one is not well formed
local function check_report(k)
  local entries = 0
  for _, i in ipairs({7, 8, 9}) do number(k + i) end
  for id in string.gmatch(ARGV[k + 1], '%S+') do
    if not string.match(id, '^%d+%-%d+$') then error('ARGV ' .. k + 1 .. ' has no ids of entries') end
    entries = entries + 1
  end
  if string.gsub(ARGV[k + 3], '%l+ %d+ ?', '') ~= '' then error('ARGV ' .. k + 3 .. ' counts nothing') end
  return entries
end

local function check_reports()
  local entries = 0
  for i = 5, 8 do if i ~= 6 then number(i) end end
  if (#ARGV - 8) % 13 ~= 0 then error('ARGV is not made of items') end
  for k = 9, #ARGV, 13 do entries = entries + check_report(k) end
  if entries > 200 then error('more than 200 entries') end
end
