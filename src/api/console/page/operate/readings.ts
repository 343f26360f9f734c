import { useEffect, useState } from "preact/hooks";
import { call } from "../base/api.ts";
import {
  parseMetrics,
  quantileBetween,
  type Requests,
  requestsOf,
  sampleOf,
  sumOf,
} from "./metrics.ts";

const INTERVAL_MS = 2_000;
/** An hour of readings. */
const CAPACITY = 1_800;
const MS = 1_000;

/** What the process that answers said at one time; null for what it did not say. */
export interface Reading {
  /** Seconds since 1970. */
  readonly at: number;
  readonly requests: Requests;
  readonly refused: number;
  readonly rate: number | null;
  readonly refusals: number | null;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly recall: number | null;
  readonly lag: number | null;
  readonly memory: number | null;
  readonly indexes: number | null;
}

function readingOf(text: string, at: number, before: Reading | undefined): Reading {
  const samples = parseMetrics(text);
  const requests = requestsOf(samples);
  const refused =
    sumOf(samples, "tessera_overloaded_total") + sumOf(samples, "tessera_rate_limited_total");
  const quantile = (of: number) => {
    const seconds = before && quantileBetween(of, before.requests, requests);
    return seconds === null || seconds === undefined ? null : seconds * MS;
  };
  // A counter that shrinks belongs to a process that has started since.
  const rate = (now: number, then: number | undefined) =>
    before === undefined || then === undefined || at <= before.at
      ? null
      : Math.max(0, now - then) / (at - before.at);
  return {
    at,
    requests,
    refused,
    rate: rate(requests.count, before?.requests.count),
    refusals: rate(refused, before?.refused),
    p50: quantile(0.5),
    p99: quantile(0.99),
    recall: sampleOf(samples, "tessera_search_recall_ratio"),
    lag: sampleOf(samples, "tessera_index_change_lag"),
    memory: sampleOf(samples, "tessera_process_resident_memory_bytes"),
    indexes: sumOf(samples, "tessera_index_memory_bytes"),
  };
}

/** Kept while the page is open, so that another view in between costs only a gap. */
let kept: readonly Reading[] = [];

/** Reads the metrics every two seconds while the view is open. */
export function useReadings(): { readings: readonly Reading[]; error: unknown } {
  const [state, setState] = useState<{ readings: readonly Reading[]; error: unknown }>({
    readings: kept,
    error: undefined,
  });
  useEffect(() => {
    const leaving = new AbortController();
    const read = async () => {
      const at = Date.now() / MS;
      try {
        const { body } = await call<string>("metrics", { signal: leaving.signal });
        kept = [...kept, readingOf(body, at, kept.at(-1))].slice(-CAPACITY);
        setState({ readings: kept, error: undefined });
      } catch (error) {
        if (!leaving.signal.aborted) setState({ readings: kept, error });
      }
    };
    read();
    const timer = setInterval(read, INTERVAL_MS);
    return () => {
      clearInterval(timer);
      leaving.abort();
    };
  }, []);
  return state;
}
