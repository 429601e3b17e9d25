-- What a worker runs to take the least allocated eligible endpoint together with its URL, in one
-- round trip. It stands alone.
-- KEYS 1 eligible 2 urls
-- ARGV none
-- Returns {endpoint, full proxy URL: a secret}; nil when nobody is eligible
local chosen = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
if not chosen then return nil end
local url = redis.call('HGET', KEYS[2], chosen) or chosen
redis.call('ZINCRBY', KEYS[1], 1, chosen)
return {chosen, url}
