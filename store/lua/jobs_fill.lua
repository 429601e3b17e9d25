-- Has eligible endpoints counted in inflight, after jobs were switched on.
-- KEYS 1 eligible 2 meta 3 inflight 4 engaged
-- ARGV 1 '1' when all that are eligible come up to these, else '0', then endpoints, at most 200
-- Returns 1, and 0 when jobs are not counted: nothing is written
if #ARGV > 201 then error('more than 200 endpoints') end
if redis.call('HGET', KEYS[2], 'jobs') ~= '1' then return 0 end
for k = 2, #ARGV do
  if redis.call('ZSCORE', KEYS[1], ARGV[k]) then count_in(ARGV[k], jobs_of(ARGV[k])) end
end
if ARGV[1] == '1' then redis.call('HSET', KEYS[2], 'jobs_whole', '1') end
return 1
