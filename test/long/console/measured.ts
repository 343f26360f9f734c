import { MetricsHistory } from "../../../src/observability/metrics-history.ts";

const STEP_SECONDS = 5;
const MS = 1_000;
const MIB = 2 ** 20;
/** Of different speed, of which every few are much like all. */
const REQUESTS = 100;
const SHUFFLED = 37;

/** What a process measures on some day, with an import in the middle, up to a time. */
export function measuredUntil(end: number, seconds: number) {
  const start = end - seconds * MS;
  const history = new MetricsHistory(start);
  const samples = seconds / STEP_SECONDS;
  for (let n = 0; n < samples; n++) {
    const swell = (period: number) => (1 + Math.sin((2 * Math.PI * n) / period)) / 2;
    const busy = Math.max(0, 1 - Math.abs(n - samples / 2) / 24);
    for (let i = 0; i < REQUESTS * (6 + 3 * swell(140)); i++) {
      const share = ((i * SHUFFLED) % REQUESTS) / REQUESTS;
      const operation = share < 0.4 ? "retrieve" : share < 0.8 ? "searchEnvironment" : "getProject";
      const milliseconds = (1 + 2 * busy + 0.2 * swell(37)) / (1.05 - share);
      history.observe(operation, busy > 0.9 && i < 2 ? 500 : 200, milliseconds, false);
    }
    for (let i = 0; i < 60 * (busy - 0.5); i++) history.observe("retrieve", 503, 0, true);
    history.sample(
      { projects: 3, lag: Math.floor(340 * busy), recall: 0.991 + 0.004 * swell(70) },
      (860 + 90 * busy + n / 3) * MIB,
      start + (n + 1) * STEP_SECONDS * MS,
    );
  }
  return history.read(seconds, end);
}
