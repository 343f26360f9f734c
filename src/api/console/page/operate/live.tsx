import { bytes, duration, number } from "../base/format.ts";
import { changeParams } from "../base/router.ts";
import { Segmented } from "../parts/form.tsx";
import { Panel } from "../parts/page.tsx";
import { Plot } from "../parts/plot.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { type Reading, useReadings } from "./readings.ts";

/** The ranges of time to choose from, in minutes. */
const RANGES = [
  { value: "5", label: "5 min" },
  { value: "15", label: "15 min" },
  { value: "60", label: "1 hour" },
] as const;
type Range = (typeof RANGES)[number]["value"];
const SECONDS_PER_MINUTE = 60;

type Line = readonly [label: string, value: (reading: Reading) => number | null];

interface PlotOf {
  readonly title: string;
  readonly lead: string;
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** The highest value there can be. */
  readonly top?: number;
  readonly bottom?: number;
}

const rate = (value: number) => `${number(value, value < 10 ? 1 : 0)}/s`;

const PLOTS: readonly PlotOf[] = [
  {
    title: "Throughput",
    lead: "Requests that were answered, per second.",
    lines: [["requests", (reading) => reading.rate]],
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
    lead: "Changes that are stored but cannot be found yet.",
    lines: [["changes", ({ lag }) => lag]],
    format: (value) => number(value),
  },
  {
    title: "Memory",
    lead: "Of the process, and of the indexes in it.",
    lines: [
      ["process", ({ memory }) => memory],
      ["indexes", ({ indexes }) => indexes],
    ],
    format: bytes,
  },
  {
    title: "Refusals",
    lead: "Requests that were refused for load or quota, per second.",
    lines: [["refused", ({ refusals }) => refusals]],
    format: rate,
  },
];

/** Plots of the process that answers, over a time that the address has. */
export function Live({ range = "5" }: { range: string | undefined }) {
  const { readings, error } = useReadings();
  const chosen = RANGES.find(({ value }) => value === range)?.value ?? "5";
  const first = (readings.at(-1)?.at ?? 0) - Number(chosen) * SECONDS_PER_MINUTE;
  const shown = readings.filter(({ at }) => at >= first);
  return (
    <>
      <div class="operate-bar">
        <p class="muted">
          Of the process that answers, every two seconds since this view was opened.
        </p>
        <Segmented<Range>
          label="Time"
          value={chosen}
          options={RANGES}
          onChange={(value) => changeParams({ range: value }, { replace: true })}
        />
      </div>
      {error !== undefined && <Failure error={error} />}
      {shown.length === 0 && error === undefined ? (
        <Loading what="Reading the metrics" />
      ) : (
        <div class="columns">
          {PLOTS.map(({ title, lead, lines, ...plot }) => (
            <Panel key={title} title={title} lead={lead}>
              <Plot
                title={title}
                times={shown.map(({ at }) => at)}
                series={lines.map(([label, value]) => ({ label, values: shown.map(value) }))}
                {...plot}
              />
            </Panel>
          ))}
        </div>
      )}
    </>
  );
}
