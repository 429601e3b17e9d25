-- What a worker runs when a job that acquire.lua began is over. A job ends once: by this, or by its
-- time limit. It can tell at once what the worker saw, as report.lua does. It stands alone.
-- KEYS 1 inflight 2 jobs 3 engaged 4 reports
-- ARGV 1 token, as acquire.lua gave it 2 outcome: passed or failed, '' to tell nothing 3 stage and
--      4 reason of a failure, or '' 5 the worker's name
-- Returns 1, and 0 when the job was over already: then nothing is told
local id, longest = string.match(ARGV[1] or '', '^%d+%.%d+%.%d+:(.+)$'), {4200, 64, 64, 64, 128}
if not id then error('ARGV 1 is no token') end
for i = 1, 5 do
  if #(ARGV[i] or '') > longest[i] then error('ARGV ' .. i .. ' is longer than ' .. longest[i] .. ' bytes') end
end
if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 0 end
local live = redis.call('ZSCORE', KEYS[1], id)
local away = not live and (tonumber(string.match(redis.call('HGET', KEYS[3], id) or '', '^%d+$')) or 0)
if (ARGV[2] or '') ~= '' then
  redis.call('XADD', KEYS[4], 'MAXLEN', '~', 10000, '*', 'endpoint', id, 'outcome', ARGV[2], 'stage', ARGV[3] or '', 'reason', ARGV[4] or '',
    'worker', ARGV[5] or '', 'at_ms', '')
end
redis.call('ZREM', KEYS[2], ARGV[1])
if live then
  if tonumber(live) >= 1 then redis.call('ZINCRBY', KEYS[1], -1, id) end
elseif away > 1 then
  redis.call('HSET', KEYS[3], id, string.format('%.0f', away - 1))
else
  redis.call('HDEL', KEYS[3], id)
end
return 1
