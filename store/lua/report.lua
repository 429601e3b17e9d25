-- What a worker runs to tell what it saw of one endpoint. It stands alone: no other script
-- of proxyward is needed. The stream is bounded here, also while no daemon reads it.
-- KEYS 1 reports
-- ARGV 1 endpoint, as allocate.lua gave it 2 outcome: passed or failed 3 stage and 4 reason of a
--      failure, or '' 5 the worker's name 6 at_ms: its own clock, which tells a repeated report
-- Returns the id of the entry
local names = {'endpoint', 'outcome', 'stage', 'reason', 'worker', 'at_ms'}
local longest = {4096, 64, 64, 64, 128, 64}
local entry = {}
for i, name in ipairs(names) do
  local value = ARGV[i] or ''
  if #value > longest[i] then error(name .. ' is longer than ' .. longest[i] .. ' bytes') end
  entry[2 * i - 1], entry[2 * i] = name, value
end
return redis.call('XADD', KEYS[1], 'MAXLEN', '~', 10000, '*', unpack(entry))
