-- Reads endpoints whole, at one instant.
-- KEYS 1 eligible 2 endpoints 3-6 lanes 7 leases 8 tokens 9 urls 10 holds 11 meta
--      12 inflight 13 engaged
-- ARGV ids, at most 200
-- Returns for each {record, url, eligible score, urgent, recovery, recheck, candidate, lease, token,
--   end of the hold, live jobs in inflight, in engaged, 1 when inflight must have all who are
--   eligible}, '' where there is none
local reply, whole = {}, redis.call('HGET', KEYS[11], 'jobs_whole') or ''
for _, id in ipairs(ARGV) do
  local row = {redis.call('HGET', KEYS[2], id) or '', redis.call('HGET', KEYS[9], id) or '', redis.call('ZSCORE', KEYS[1], id) or ''}
  for i = 3, 7 do table.insert(row, redis.call('ZSCORE', KEYS[i], id) or '') end
  table.insert(row, redis.call('HGET', KEYS[8], id) or '')
  for _, v in ipairs({redis.call('ZSCORE', KEYS[10], id) or '', redis.call('ZSCORE', KEYS[12], id) or '', redis.call('HGET', KEYS[13], id) or '', whole}) do
    table.insert(row, v)
  end
  table.insert(reply, row)
end
return reply
