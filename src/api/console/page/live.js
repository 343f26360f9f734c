import { fetchMetrics } from "./api.js";
import { element, failure } from "./dom.js";
import { parseMetrics, quantileBetween, requestsOf, sampleOf } from "./metrics.js";
import { plot } from "./plot.js";

const INTERVAL_MS = 2_000;
/** Four minutes of readings. */
const CAPACITY = 120;
const MS = 1_000;

const number = (/** @type {number} */ value) =>
  value.toLocaleString(undefined, { maximumFractionDigits: 1 });
const milliseconds = (/** @type {number} */ value) => `${value.toPrecision(3)} ms`;

/**
 * Throughput, latency, recall and lag of the process that answers, read every two seconds.
 *
 * @param {HTMLElement} place
 * @param {{ signal: AbortSignal }} view
 */
export async function showLive(place, { signal }) {
  const plots = plotsOf();
  const problem = element("div");
  place.append(
    element("p", { class: "muted" }, "All requests of this process, every two seconds."),
    problem,
    element("div", { class: "grid" }, ...Object.values(plots).map(({ node }) => node)),
  );
  /** @type {{ at: number, requests: ReturnType<typeof requestsOf> } | undefined} */
  let before;
  while (!signal.aborted) {
    try {
      const samples = parseMetrics(await fetchMetrics(signal));
      const now = { at: performance.now(), requests: requestsOf(samples) };
      if (before !== undefined) addRates(plots, before, now);
      plots.recall.add([sampleOf(samples, "tessera_search_recall_ratio")]);
      plots.lag.add([sampleOf(samples, "tessera_index_change_lag")]);
      plots.vectors.add([sampleOf(samples, "tessera_index_vectors")]);
      before = now;
      problem.replaceChildren();
    } catch (error) {
      if (signal.aborted) return;
      problem.replaceChildren(failure(error));
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  }
}

function plotsOf() {
  const of = (
    /** @type {string} */ title,
    /** @type {string[]} */ names,
    /** @type {(value: number) => string} */ format,
  ) => plot({ title, names, format, capacity: CAPACITY });
  return {
    rate: of("Throughput", ["requests per second"], number),
    latency: of("Latency", ["p50", "p99"], milliseconds),
    recall: of("Recall of searches", ["measured on a sample"], (value) => value.toFixed(4)),
    lag: of("Index lag", ["changes not searchable yet"], number),
    vectors: of("Vectors", ["in memory"], number),
  };
}

/** @param {any} plots @param {any} before @param {any} now */
function addRates({ rate, latency }, before, now) {
  const seconds = (now.at - before.at) / MS;
  rate.add([Math.max(0, now.requests.count - before.requests.count) / seconds]);
  const of = (/** @type {number} */ quantile) => {
    const value = quantileBetween(quantile, before.requests, now.requests);
    return value === null ? null : value * MS;
  };
  latency.add([of(0.5), of(0.99)]);
}
