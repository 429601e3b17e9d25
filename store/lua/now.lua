-- Reads the pool's time without moving it.
-- KEYS 1 clock
-- ARGV 1-4 as in clock.lua
-- Returns the time in ms, as a string
return int((pool_time(KEYS[1], false)))
