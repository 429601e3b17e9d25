-- Asks for a probe soon. An endpoint stands in one lane only; asking twice is one probe.
-- KEYS 1-4 lanes 5 leases 6 clock 7 meta
-- ARGV 1-4 as in clock.lua 5 priority (0-99999, lower first), then ids
-- Returns a code for each, as urge.lua has it
local priority, now, codes = number(5), pool_time(KEYS[6], false), {}
for k = 6, #ARGV do table.insert(codes, urge(ARGV[k], priority, now)) end
return codes
