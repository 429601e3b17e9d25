-- Fragment of report_read: one entry of the stream, in the columns of the reply.
-- report(reply, entry, now) adds: id, pool time at which it was written, bytes of all names and
--   values, endpoint, outcome, stage, reason, worker, at_ms, each cut at ARGV[9] bytes
local columns = {endpoint = 4, outcome = 5, stage = 6, reason = 7, worker = 8, at_ms = 9}

local function report(reply, entry, now)
  local row, size, t = {entry[1], '', '', '', '', '', '', '', ''}, 0, redis.call('TIME')
  local age = t[1] * 1000 + math.floor(t[2] / 1000) - bounded(tonumber(string.match(entry[1], '^%d+')) or most)
  for i = 1, #entry[2], 2 do
    local name, value = entry[2][i], entry[2][i + 1]
    size = size + #name + #value
    if columns[name] then row[columns[name]] = string.sub(value, 1, tonumber(ARGV[9])) end
  end
  row[2], row[3] = int(math.max(now - math.max(age, 0), 0)), int(size)
  for _, value in ipairs(row) do table.insert(reply, value) end
end
