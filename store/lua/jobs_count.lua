-- Corrects how many live jobs endpoints have, each only where it is counted as it was read and
-- none of its jobs that were read has ended since.
-- KEYS 1 jobs 2 eligible 3 meta 4 inflight 5 engaged
-- ARGV for each, at most 200: endpoint, its number in inflight as read (0: none), in engaged as read
--      ('': none), how many live jobs it has, how many of their tokens follow, and these
-- Returns a code for each: 0 corrected, 2 something changed: nothing written
local function as_read(k)
  local same = tonumber(redis.call('ZSCORE', inflight, ARGV[k]) or 0) == tonumber(ARGV[k + 1]) and (redis.call('HGET', engaged, ARGV[k]) or '') == ARGV[k + 2]
  for i = k + 5, k + 4 + number(k + 4) do same = same and redis.call('ZSCORE', KEYS[1], ARGV[i]) end
  return same
end

local items, codes, k = {}, {}, 1
while k <= #ARGV do
  if not ARGV[k + 4 + number(k + 4)] or number(k + 3) % 1 ~= 0 then error('ARGV ' .. k .. ' begins no whole item') end
  table.insert(items, k)
  k = k + 5 + number(k + 4)
end
for _, at in ipairs(items) do
  local same, id = as_read(at), ARGV[at]
  if same then
    (redis.call('ZSCORE', KEYS[2], id) and count_in or count_out)(id, number(at + 3))
    raise(KEYS[3], 'repaired:I8', 1)
  end
  table.insert(codes, same and 0 or 2)
end
return codes
