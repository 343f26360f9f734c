import { bytes, duration, number } from "../base/format.ts";
import { Panel } from "../parts/page.tsx";
import { Plot, type PlotProps } from "../parts/plot.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import type { Point } from "./metrics.ts";
import { KEPT_SECONDS, usePoints } from "./readings.ts";

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
