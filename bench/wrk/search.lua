-- Sends search bodies from a file, one per line, as `./tessera bench load/bodies` writes them:
--
--   export TESSERA_API_KEY=...
--   BODIES=bodies/bodies.ndjson wrk -t2 -c16 -d30s --latency -s bench/wrk/search.lua URL
--
-- wrk is a closed loop: a stall of the service shows in few of its latencies. `./tessera bench load --rate`
-- and `oha -q --latency-correction` count from the intended start.

local path = os.getenv("BODIES") or "bodies/bodies.ndjson"
local key = os.getenv("TESSERA_API_KEY")
local threads = {}

-- Threads begin at different bodies, so that they do not send the same one at the same time.
function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

function init(args)
  if key == nil then error("set TESSERA_API_KEY to an API key") end
  local file = io.open(path, "r")
  if file == nil then error("there is no file " .. path .. "; ./tessera bench load/bodies writes it") end
  local headers = { ["Content-Type"] = "application/json", ["X-API-Key"] = key }
  requests = {}
  for line in file:lines() do
    table.insert(requests, wrk.format("POST", nil, headers, line))
  end
  file:close()
  if #requests == 0 then error(path .. " is empty") end
  position = number * 17
  refused = 0
  failed = 0
end

function request()
  position = position + 1
  return requests[position % #requests + 1]
end

function response(status)
  if status == 503 then
    refused = refused + 1
  elseif status ~= 200 then
    failed = failed + 1
  end
end

function done(summary, latency)
  local refusals, failures = 0, 0
  for _, thread in ipairs(threads) do
    refusals = refusals + thread:get("refused")
    failures = failures + thread:get("failed")
  end
  for _, percentile in ipairs({ 50, 90, 99, 99.9 }) do
    print(string.format("p%g: %.3f ms", percentile, latency:percentile(percentile) / 1000))
  end
  print(string.format("max: %.3f ms", latency.max / 1000))
  print(string.format("refused with 503: %d, other statuses: %d", refusals, failures))
end
