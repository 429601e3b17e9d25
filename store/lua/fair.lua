-- Fragment of claim: which lane is served next.
-- fair(queues, recent) -> lane, recent: the first lane in order that has due work, but one that
--   this grant would leave with fewer than 10 of the last 100 goes before all others
local letter = {urgent = 'u', recovery = 'r', recheck = 'k', candidate = 'c'}

local function fair(queues, recent)
  local chosen, starving
  recent = string.sub(recent, -99)
  for _, lane in ipairs(order) do
    if queues[lane][queues[lane].at] then
      local _, share = string.gsub(recent, letter[lane], '')
      chosen = chosen or lane
      starving = starving or (share < 10 and lane)
    end
  end
  chosen = starving or chosen
  return chosen, recent .. letter[chosen]
end
