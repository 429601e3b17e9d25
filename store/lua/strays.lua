-- Finds members of a key that have no record, or none that begins as it must.
-- KEYS 1 endpoints
-- ARGV 1 how a record must begin ('' anyhow), then ids, at most 200
-- Returns the ids of those that have no such record
local strays, begins = {}, ARGV[1]
for k = 2, #ARGV do
  local record = redis.call('HGET', KEYS[1], ARGV[k])
  if not record or string.sub(record, 1, #begins) ~= begins then table.insert(strays, ARGV[k]) end
end
return strays
