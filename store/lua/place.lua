-- Fragment of amend: where an endpoint waits after the change at ARGV[k].
-- KEYS 3-6 lanes 8 tokens
-- place(k, lanes, due) moves it to its lane, or out of all; due nil leaves it where it is. A live
--   lease stays: its token says where the endpoint goes when the lease ends. What waits in the
--   urgent lane stays there, unless the urgent lane is not for its new state.
local function place(k, lanes, due)
  local id, lane = ARGV[k], ARGV[k + 6]
  local token = redis.call('HGET', KEYS[8], id)
  if not due and lane ~= 'disabled' then return end
  if token then
    redis.call('HSET', KEYS[8], id, lane .. '.' .. (due or '0') .. '.' .. nonce(token))
    return
  end
  if lane == 'recheck' or lane == 'candidate' then
    if redis.call('ZSCORE', KEYS[3], id) then return end
  end
  for i = 3, 6 do redis.call('ZREM', KEYS[i], id) end
  wait_in(lanes, lane, due, id)
end
