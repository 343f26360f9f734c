import { bytes, duration, number } from "../base/format.ts";
import { changeParams } from "../base/router.ts";
import { Segmented } from "../parts/form.tsx";
import { Panel } from "../parts/page.tsx";
import { Plot, type PlotProps } from "../parts/plot.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { type History, useHistory, type Values } from "./history.ts";

/** The ranges of time to choose from, in minutes. */
const RANGES = [
  { value: "15", label: "15 min" },
  { value: "60", label: "1 hour" },
  { value: "360", label: "6 hours" },
] as const;
type Range = (typeof RANGES)[number]["value"];
const SECONDS_PER_MINUTE = 60;

type Line = readonly [label: string, values: (history: History) => Values];

interface PlotOf extends Pick<PlotProps, "title" | "format" | "top" | "bottom"> {
  readonly lead: string;
  readonly lines: readonly Line[];
}

/** What was asked of the indexes, of whatever kind. */
const searches = ({ at, requests_per_second: { search, lookup, retrieve } }: History): Values =>
  at.map((_, i) => (search[i] ?? 0) + (lookup[i] ?? 0) + (retrieve[i] ?? 0));

const rate = (value: number) => `${number(value, value < 10 ? 1 : 0)}/s`;

const PLOTS: readonly PlotOf[] = [
  {
    title: "Throughput",
    lead: "Requests that were answered, per second.",
    lines: [
      ["searches", searches],
      ["others", (history) => history.requests_per_second.other],
    ],
    format: rate,
  },
  {
    title: "Latency",
    lead: "How long the median and the slowest hundredth took.",
    lines: [
      ["p50", ({ series }) => series.p50_ms],
      ["p99", ({ series }) => series.p99_ms],
    ],
    format: duration,
  },
  {
    title: "Recall",
    lead: "The share of the true neighbours that searches found, measured on a sample.",
    lines: [["recall", ({ series }) => series.recall]],
    format: (value) => number(value, 4),
    bottom: 0.9,
    top: 1,
  },
  {
    title: "Lag",
    lead: "How long the oldest change that cannot be found yet has waited.",
    lines: [["oldest", ({ series }) => series.index_lag_seconds]],
    format: (value) => `${number(value, 1)} s`,
  },
  {
    title: "Memory",
    lead: "What the process occupies, with the indexes in it.",
    lines: [["process", ({ series }) => series.rss_bytes]],
    format: bytes,
  },
  {
    title: "Refusals and failures",
    lead: "Requests that were refused for load or quota, and that failed, per second.",
    lines: [
      ["refused", ({ series }) => series.refusals_per_second],
      ["failed", ({ series }) => series.errors_per_second],
    ],
    format: rate,
  },
];

/** Plots of the process that answers, over a time that the address has. */
export function Live({ range }: { range: string | undefined }) {
  const chosen = RANGES.find(({ value }) => value === range)?.value ?? "15";
  const seconds = Number(chosen) * SECONDS_PER_MINUTE;
  const { history, error } = useHistory(seconds);
  return (
    <>
      <div class="operate-bar">
        <p class="muted">What the process that answers has measured, for at most six hours.</p>
        <Segmented<Range>
          label="Time"
          value={chosen}
          options={RANGES}
          onChange={(value) => changeParams({ range: value }, { replace: true })}
        />
      </div>
      {error !== undefined && <Failure error={error} />}
      {history !== undefined && history.at.length > 0 ? (
        <Plots history={history} seconds={seconds} />
      ) : (
        error === undefined && <Loading what="Reading what was measured" />
      )}
    </>
  );
}

function Plots({ history, seconds }: { history: History; seconds: number }) {
  return (
    <div class="columns">
      {PLOTS.map(({ title, lead, lines, ...plot }) => (
        <Panel key={title} title={title} lead={lead}>
          <Plot
            title={title}
            times={history.at}
            seconds={seconds}
            series={lines.map(([label, values]) => ({ label, values: values(history) }))}
            {...plot}
          />
        </Panel>
      ))}
    </div>
  );
}
