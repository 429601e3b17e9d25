-- Fragment of report_apply: the entries of the item at ARGV[k], and what is remembered.
-- still(k)           -> 0 all is as it was judged; 1 an entry is not pending any more: somebody applied
--                      it; 2 what it was judged on has changed
-- settle(k)          acknowledges and counts
-- remember(k, state) keeps what reports of the endpoint came to so far; '' nothing
-- count(word)        adds one
local function count(word, n) raise(KEYS[7], 'reports:' .. word, n or 1) end

local function still(k)
  for id in string.gmatch(ARGV[k + 1], '%S+') do
    if not redis.call('XPENDING', KEYS[8], ARGV[6], id, id, 1)[1] then return 1 end
  end
  local same = (redis.call('HGET', KEYS[9], ARGV[k]) or '') == ARGV[k + 4] and redis.call('ZSCORE', KEYS[11], ARGV[k])
  return (ARGV[k] == '' or same) and 0 or 2
end

local function settle(k)
  for id in string.gmatch(ARGV[k + 1], '%S+') do
    redis.call('XACK', KEYS[8], ARGV[6], id)
    if ARGV[k + 2] == '1' then redis.call('XDEL', KEYS[8], id) end
  end
  for word, n in string.gmatch(ARGV[k + 3], '(%l+) (%d+)') do count(word, n) end
end

local function remember(k, state)
  if state == '' then
    redis.call('HDEL', KEYS[9], ARGV[k])
    redis.call('ZREM', KEYS[10], ARGV[k])
  else
    redis.call('HSET', KEYS[9], ARGV[k], state)
    redis.call('ZADD', KEYS[10], ARGV[k + 7], ARGV[k])
  end
end
