import { useEffect, useState } from "preact/hooks";
import { call } from "../base/api.ts";
import { duration, number } from "../base/format.ts";
import { Page, Panel } from "../parts/page.tsx";
import { Plot } from "../parts/plot.tsx";
import { Failure } from "../parts/states.tsx";
import { parseMetrics, quantileBetween, type Requests, requestsOf, sampleOf } from "./metrics.ts";

const INTERVAL_MS = 2_000;
/** Four minutes of readings. */
const CAPACITY = 120;
const MS = 1_000;

/** What the process answered at one time; null for what it did not say. */
interface Reading {
  readonly at: number;
  readonly requests: Requests;
  readonly rate: number | null;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly recall: number | null;
  readonly lag: number | null;
  readonly vectors: number | null;
}

function readingOf(text: string, before: Reading | undefined): Reading {
  const samples = parseMetrics(text);
  const at = Date.now() / MS;
  const requests = requestsOf(samples);
  const quantile = (of: number) => {
    const seconds = before && quantileBetween(of, before.requests, requests);
    return seconds === null || seconds === undefined ? null : seconds * MS;
  };
  const grown = before && Math.max(0, requests.count - before.requests.count);
  return {
    at,
    requests,
    rate: before && grown !== undefined ? grown / (at - before.at) : null,
    p50: quantile(0.5),
    p99: quantile(0.99),
    recall: sampleOf(samples, "tessera_search_recall_ratio"),
    lag: sampleOf(samples, "tessera_index_change_lag"),
    vectors: sampleOf(samples, "tessera_index_vectors"),
  };
}

type Line = readonly [label: string, value: (reading: Reading) => number | null];

const PLOTS: readonly { title: string; lines: readonly Line[]; format: (v: number) => string }[] = [
  {
    title: "Throughput",
    lines: [["requests per second", ({ rate }) => rate]],
    format: (value) => number(value, 1),
  },
  {
    title: "Latency",
    lines: [
      ["p50", ({ p50 }) => p50],
      ["p99", ({ p99 }) => p99],
    ],
    format: duration,
  },
  {
    title: "Recall of searches",
    lines: [["measured on a sample", ({ recall }) => recall]],
    format: (value) => number(value, 4),
  },
  {
    title: "Index lag",
    lines: [["changes not searchable yet", ({ lag }) => lag]],
    format: (value) => number(value, 1),
  },
  {
    title: "Vectors",
    lines: [["in memory", ({ vectors }) => vectors]],
    format: (value) => number(value),
  },
];

/** Throughput, latency, recall and lag of the process that answers, read every two seconds. */
export function LiveView() {
  const [readings, setReadings] = useState<readonly Reading[]>([]);
  const [error, setError] = useState<unknown>(undefined);
  useEffect(() => {
    const leaving = new AbortController();
    const read = async () => {
      try {
        const { body } = await call<string>("metrics", { signal: leaving.signal });
        setReadings((old) => [...old, readingOf(body, old.at(-1))].slice(-CAPACITY));
        setError(undefined);
      } catch (failed) {
        if (!leaving.signal.aborted) setError(failed);
      }
    };
    read();
    const timer = setInterval(read, INTERVAL_MS);
    return () => {
      clearInterval(timer);
      leaving.abort();
    };
  }, []);
  return (
    <Page title="Live" lead="All requests of the process that answers, every two seconds.">
      {error !== undefined && <Failure error={error} />}
      <div class="columns">
        {PLOTS.map(({ title, lines, format }) => (
          <Panel key={title} title={title}>
            <Plot
              title={title}
              times={readings.map(({ at }) => at)}
              series={lines.map(([label, value]) => ({ label, values: readings.map(value) }))}
              format={format}
            />
          </Panel>
        ))}
      </div>
    </Page>
  );
}
