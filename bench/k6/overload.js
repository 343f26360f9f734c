/**
 * A rising rate of searches, up to several times the capacity: what is answered must stay quick, and
 * what is refused must be refused with 503 and Retry-After.
 *
 *   k6 run -e URL=... -e KEY=tsr_... -e BODIES=$PWD/bodies/bodies.ndjson -e PEAK=5000 bench/k6/overload.js
 */
import { check } from "k6";
import http from "k6/http";
import { Trend } from "k6/metrics";
import { bodiesOfFile, duration, headers, number, setting } from "./settings.js";

const url = setting("URL");
const bodies = bodiesOfFile();

/** Latency of the searches that were answered with 200. */
const answered = new Trend("answered", true);

/** @type {import("k6/options").Options} */
export const options = {
  scenarios: {
    overload: {
      executor: "ramping-arrival-rate",
      startRate: number("RATE", 100),
      timeUnit: "1s",
      preAllocatedVUs: number("VUS", 200),
      maxVUs: number("MAX_VUS", 2_000),
      stages: [
        { target: number("PEAK", 5_000), duration },
        { target: number("RATE", 100), duration: "10s" },
      ],
    },
  },
  thresholds: {
    answered: [`p(99)<${number("MAX_P99_MS", 250)}`],
    checks: ["rate>0.999"],
  },
};

// A refusal is a right answer here, so it is no failed request.
http.setResponseCallback(http.expectedStatuses(200, 503));

export default function overload() {
  const body = bodies[Math.floor(Math.random() * bodies.length)];
  const response = http.post(url, body, { headers });
  check(response, {
    "is answered or refused": ({ status }) => status === 200 || status === 503,
    "a refusal says when to retry": (each) =>
      each.status !== 503 || Number(each.headers["Retry-After"]) > 0,
  });
  if (response.status === 200) answered.add(response.timings.duration);
}
