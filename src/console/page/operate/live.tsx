import { useEffect, useState } from "preact/hooks";
import { call } from "../base/api.ts";
import { bytes, duration, number } from "../base/format.ts";
import { Panel } from "../parts/page.tsx";
import { Plot, type PlotProps } from "../parts/plot.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { type Point, pointOf, type Reading, readingOf } from "./metrics.ts";

const INTERVAL_MS = 2_000;
/** Maximum age of a point, relative to the last one. */
const KEPT_SECONDS = 900;
const MS = 1_000;

interface State {
  readonly points: readonly Point[];
  readonly error: unknown;
}

/** Kept while the console is open, so a visit of another view leaves only a gap. */
let points: readonly Point[] = [];
let last: Reading | undefined;

async function poll(signal: AbortSignal): Promise<void> {
  const { body } = await call<string>("metrics", { signal });
  const reading = readingOf(body, Date.now() / MS);
  // The clock of a computer may be set back.
  if (last !== undefined && reading.at <= last.at) return;
  const point = pointOf(last, reading);
  last = reading;
  points = [...points, point].filter(({ at }) => at >= point.at - KEPT_SECONDS);
}

/** Polls the metrics of the answering process while the view is open. */
function usePoints(): State {
  const [state, setState] = useState<State>({ points, error: undefined });
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    let timer: ReturnType<typeof setTimeout>;
    const read = async () => {
      let error: unknown;
      try {
        await poll(signal);
      } catch (cause) {
        error = cause;
      }
      if (signal.aborted) return;
      setState({ points, error });
      timer = setTimeout(read, INTERVAL_MS);
    };
    read();
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, []);
  return state;
}

type Line = readonly [label: string, value: (point: Point) => number | null];

interface PlotOf extends Pick<PlotProps, "title" | "format" | "top" | "bottom"> {
  readonly lead: string;
  readonly lines: readonly Line[];
}

const rate = (value: number) => `${number(value, value < 10 ? 1 : 0)}/s`;

const PLOTS: readonly PlotOf[] = [
  {
    title: "Throughput",
    lead: "Requests that were answered, per second.",
    lines: [
      ["searches", ({ searches }) => searches],
      ["others", ({ others }) => others],
    ],
    format: rate,
  },
  {
    title: "Latency",
    lead: "How long the median and the slowest hundredth took.",
    lines: [
      ["p50", ({ p50 }) => p50],
      ["p99", ({ p99 }) => p99],
    ],
    format: duration,
  },
  {
    title: "Recall",
    lead: "The share of the true neighbours that searches found, measured on a sample.",
    lines: [["recall", ({ recall }) => recall]],
    format: (value) => number(value, 4),
    bottom: 0.9,
    top: 1,
  },
  {
    title: "Lag",
    lead: "Changes that are stored and cannot be found yet.",
    lines: [["changes", ({ lag }) => lag]],
    format: (value) => number(value),
  },
  {
    title: "Memory",
    lead: "What the process occupies, with the indexes in it.",
    lines: [["process", ({ memory }) => memory]],
    format: bytes,
  },
  {
    title: "Refusals and failures",
    lead: "Requests that were refused (429, 503), and that failed, per second.",
    lines: [
      ["refused", ({ refused }) => refused],
      ["failed", ({ failed }) => failed],
    ],
    format: rate,
  },
];

/** Plots of the answering process, since the view was opened. */
export function Live() {
  const { points, error } = usePoints();
  return (
    <>
      <p class="muted">
        Polled from the process that answers while this view is open, for the last 15 minutes.
      </p>
      {error !== undefined && <Failure error={error} />}
      {points.length > 0 ? (
        <Plots points={points} />
      ) : (
        error === undefined && <Loading label="Reading the metrics" />
      )}
    </>
  );
}

function Plots({ points }: { points: readonly Point[] }) {
  return (
    <div class="columns">
      {PLOTS.map(({ title, lead, lines, ...plot }) => (
        <Panel key={title} title={title} lead={lead}>
          <Plot
            title={title}
            times={points.map(({ at }) => at)}
            seconds={KEPT_SECONDS}
            series={lines.map(([label, value]) => ({ label, values: points.map(value) }))}
            {...plot}
          />
        </Panel>
      ))}
    </div>
  );
}
