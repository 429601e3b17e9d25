-- Corrects the counts by what they are off, unless somebody else did since they were read.
-- Every change of state moves them and what they count alike, so what they are off stays
-- true while daemons work.
-- KEYS 1 counts 2 meta
-- ARGV 1 how often they were corrected, as read, then field, value as read, and by how much
--      it is wrong for each; '' as how much drops a field that counts nothing
-- Returns 1 corrected, 0 somebody else did, or spoilt a count that this would correct
if (redis.call('HGET', KEYS[2], 'recounted') or '0') ~= ARGV[1] then return 0 end
for k = 2, #ARGV, 3 do
  local off = ARGV[k + 2]
  if not string.match(off, '^-?%d*$') then error('ARGV ' .. k + 2 .. ' is no number') end
  if off ~= '' and not string.match(redis.call('HGET', KEYS[1], ARGV[k]) or '0', '^-?%d+$') then return 0 end
end
for k = 2, #ARGV, 3 do
  local field, off = ARGV[k], ARGV[k + 2]
  if off ~= '' then
    redis.call('HINCRBY', KEYS[1], field, int(-off))
  elseif redis.call('HGET', KEYS[1], field) == ARGV[k + 1] then
    redis.call('HDEL', KEYS[1], field)
  end
end
raise(KEYS[2], 'recounted', 1)
raise(KEYS[2], 'repaired:I4', 1)
return 1
