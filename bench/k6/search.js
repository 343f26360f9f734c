/**
 * Vector searches at a constant rate of arrival.
 *
 *   k6 run -e URL=http://127.0.0.1:3000/projects/handbook/environments/production/search \
 *          -e KEY=tsr_... -e BODIES=$PWD/bodies/bodies.ndjson -e RATE=500 bench/k6/search.js
 *
 * `./tessera bench load/bodies` writes the bodies and prints this command.
 */
import { check } from "k6";
import http from "k6/http";
import { Counter, Trend } from "k6/metrics";
import { bodiesOfFile, constantRate, headers, setting, thresholds } from "./settings.js";

const url = setting("URL");
const bodies = bodiesOfFile();

/** The time of the search itself, as the service reports it. */
const searchTime = new Trend("search_time", true);
const refused = new Counter("refused");

export const options = {
  scenarios: { search: constantRate() },
  thresholds: thresholds(),
};

export default function search() {
  const body = bodies[Math.floor(Math.random() * bodies.length)];
  const response = http.post(url, body, { headers });
  if (response.status === 503) refused.add(1);
  const isFound = check(response, {
    "status is 200": ({ status }) => status === 200,
    "has results": (each) => each.status === 200 && Array.isArray(each.json("data")),
  });
  if (isFound) searchTime.add(Number(response.json("search_time_ms")));
}
