/** What the scripts of this folder share: their settings, from `k6 run -e NAME=value`. */

import { SharedArray } from "k6/data";

/** @param {string} name @param {string} [fallback] */
export function setting(name, fallback) {
  const value = __ENV[name] || fallback;
  if (value === undefined) {
    throw new Error(`set ${name}, as in: k6 run -e ${name}=... ; bench/load/README.md lists all`);
  }
  return value;
}

/** @param {string} name @param {number} fallback */
export function number(name, fallback) {
  const value = Number(setting(name, String(fallback)));
  if (!(value > 0)) throw new Error(`${name} must be a number above 0`);
  return value;
}

export const duration = setting("DURATION", "30s");

/** Headers of every request. */
export const headers = {
  "Content-Type": "application/json",
  "X-API-Key": setting("KEY"),
};

/**
 * The lines of the file BODIES. Shared by all virtual users, because a copy for each of them would take
 * the memory of the machine.
 */
export function bodiesOfFile() {
  const path = setting("BODIES");
  return new SharedArray("bodies", () =>
    open(path)
      .split("\n")
      .filter((line) => line !== ""),
  );
}

/**
 * A constant rate of arrival: iterations start on schedule, whether or not earlier ones have ended.
 * Iterations that find no free virtual user are dropped, which a threshold counts as a failure.
 * @returns {import("k6/options").ConstantArrivalRateScenario}
 */
export function constantRate() {
  return {
    executor: "constant-arrival-rate",
    rate: number("RATE", 100),
    timeUnit: "1s",
    duration,
    preAllocatedVUs: number("VUS", 50),
    maxVUs: number("MAX_VUS", 500),
  };
}

/** Bounds that end a run with a status other than 0 when they are crossed. */
export function thresholds() {
  return {
    http_req_failed: [`rate<${setting("MAX_ERRORS", "0.01")}`],
    http_req_duration: [`p(95)<${number("MAX_P95_MS", 50)}`, `p(99)<${number("MAX_P99_MS", 100)}`],
    checks: ["rate>0.99"],
    // Requests that could not start on time: the latency of the others is better than what users see.
    dropped_iterations: ["count<1"],
  };
}
