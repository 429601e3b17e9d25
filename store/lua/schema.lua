-- Says which schema a pool has, and writes it down for a new pool or after an upgrade.
-- KEYS 1 meta 2 endpoints
-- ARGV 1 the caller's schema 2 the schema it has just brought up to its own, '' none
-- Returns {the pool's schema, 1 if it was not written down}
--   A pool with endpoints and no schema, or one that is no number, was made before there were any: it has 1. One without
--   endpoints is new, or all in it was lost.
local have = string.match(redis.call('HGET', KEYS[1], 'schema') or '', '^%d+$')
local bare, new = not have, not have and redis.call('EXISTS', KEYS[2]) == 0
if new or (have or '1') == ARGV[2] then
  have = ARGV[1]
  redis.call('HSET', KEYS[1], 'schema', have)
end
return {have or '1', bare and '1' or '0'}
