import { bytes, duration, number } from "../base/format.ts";
import { useRefreshed } from "../base/resource.ts";
import { SERVICE, send } from "../base/service.ts";
import { Page, Panel } from "../parts/page.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { type Point, pointOf, type Reading, readingOf } from "./metrics.ts";
import { Plot, type PlotProps } from "./plot.tsx";

const INTERVAL_MS = 2_000;
/** Maximum age of a point, relative to the last one. */
const KEPT_SECONDS = 900;
const MS = 1_000;

/** Kept while the console is open, so a visit of another view leaves only a gap. */
let points: readonly Point[] = [];
let last: Reading | undefined;

async function poll(signal: AbortSignal): Promise<void> {
  const response = await send(`${SERVICE.baseUrl}/metrics`, { signal });
  if (!response.ok) throw new Error(`The service answered ${response.status}.`);
  const reading = readingOf(await response.text(), Date.now() / MS);
  // The clock of a computer may be set back.
  if (last !== undefined && reading.at <= last.at) return;
  const point = pointOf(last, reading);
  last = reading;
  points = [...points, point].filter(({ at }) => at >= point.at - KEPT_SECONDS);
}

interface PlotOf extends Pick<PlotProps, "title" | "format" | "top" | "bottom"> {
  readonly lead: string;
  /** The values of a point by the names of their lines. */
  readonly lines: Readonly<Record<string, Exclude<keyof Point, "at">>>;
}

const rate = (value: number) => `${number(value, value < 10 ? 1 : 0)}/s`;

const PLOTS: readonly PlotOf[] = [
  {
    title: "Throughput",
    lead: "Requests that were answered, per second.",
    lines: { searches: "searches", others: "others" },
    format: rate,
  },
  {
    title: "Latency",
    lead: "How long the median and the slowest hundredth took.",
    lines: { p50: "p50", p99: "p99" },
    format: duration,
  },
  {
    title: "Recall",
    lead: "The share of the true neighbours that searches found, measured on a sample.",
    lines: { recall: "recall" },
    format: (value) => number(value, 4),
    bottom: 0.9,
    top: 1,
  },
  {
    title: "Lag",
    lead: "Changes that are stored and cannot be found yet.",
    lines: { changes: "lag" },
    format: (value) => number(value),
  },
  {
    title: "Memory",
    lead: "What the process occupies, with the indexes in it.",
    lines: { process: "memory" },
    format: bytes,
  },
  {
    title: "Refusals and failures",
    lead: "Requests that were refused (429, 503), and that failed, per second.",
    lines: { refused: "refused", failed: "failed" },
    format: rate,
  },
];

/** Plots of the answering process, since the view was opened. */
export function OperateView() {
  // The last points stay while polls fail.
  const { error } = useRefreshed("metrics", poll, INTERVAL_MS);
  return (
    <Page
      title="Operate"
      lead="Polled from the process that answers while this view is open, for the last 15 minutes."
    >
      {error !== undefined && <Failure error={error} />}
      {error === undefined && points.length === 0 && <Loading />}
      <div class="columns">
        {points.length > 0 &&
          PLOTS.map(({ title, lead, lines, ...plot }) => (
            <Panel key={title} title={title} lead={lead}>
              <Plot
                title={title}
                times={points.map(({ at }) => at)}
                seconds={KEPT_SECONDS}
                series={Object.entries(lines).map(([label, name]) => ({
                  label,
                  values: points.map((point) => point[name]),
                }))}
                {...plot}
              />
            </Panel>
          ))}
      </div>
    </Page>
  );
}
