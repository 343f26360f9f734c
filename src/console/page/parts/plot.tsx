import { useEffect, useRef, useState } from "preact/hooks";
import UPlot from "uplot";

const HEIGHT_PX = 180;
/** Room above the highest value, as a factor. */
const HEADROOM = 1.1;
const MS = 1_000;
/** A time axis that spans less than this shows seconds. */
const SECONDS_RANGE = 300;

const timeOf = (seconds: number, withSeconds: boolean) =>
  new Date(seconds * MS).toLocaleTimeString(undefined, {
    ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
    ...(withSeconds ? { second: "2-digit" } : {}),
  });

interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

export interface PlotProps {
  readonly title: string;
  /** Seconds since 1970, at least one. */
  readonly times: readonly number[];
  /** The span of the time axis before the last time. */
  readonly seconds: number;
  /** One or two, in the two accents. */
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** The highest possible value. */
  readonly top?: number;
  /** The lowest value of the axis, unless the series has a lower one. */
  readonly bottom?: number;
}

/** The value of a colour or size of the design. */
const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name);

/** The positions of values between two unknown ones. Lines do not connect them. */
function alone({ data }: UPlot, series: number): number[] {
  const values = data[series] ?? [];
  const isKnown = (index: number) => (values[index] ?? null) !== null;
  return [...values.keys()].filter((i) => isKnown(i) && !isKnown(i - 1) && !isKnown(i + 1));
}

/**
 * Series with at most this share of known values other than zero are drawn as bars, because a line would suggest values
 * in between.
 */
const SPARSE_SHARE = 0.25;
const bars = UPlot.paths.bars?.({ size: [0.6, 12, 3] });
const line = UPlot.paths.linear?.();

function isSparse(values: ArrayLike<number | null | undefined> = []): boolean {
  const told = Array.from(values).filter((value) => (value ?? 0) !== 0).length;
  return told > 0 && told <= values.length * SPARSE_SHARE;
}

const paths: UPlot.Series.PathBuilder = (plot, series, from, to) =>
  (isSparse(plot.data[series]) ? bars : line)?.(plot, series, from, to) ?? null;

function optionsOf(
  width: number,
  { series, format, top, bottom = 0 }: PlotProps,
  shown: () => PlotProps,
  onPoint: (index: number | null) => void,
): UPlot.Options {
  const axis = {
    stroke: token("--muted"),
    font: `12px ${token("--sans")}`,
    grid: { stroke: token("--line"), width: 1 },
    ticks: { show: false },
  };
  const strokes = [token("--accent"), token("--second")];
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: {
      x: {
        range: () => {
          const { times, seconds } = shown();
          const last = times.at(-1) ?? 0;
          return [last - seconds, last];
        },
      },
      y: {
        range: (_, low, high) => [Math.min(low, bottom), top ?? (high > 0 ? high * HEADROOM : 1)],
      },
    },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    axes: [
      {
        ...axis,
        space: 80,
        size: 28,
        values: (_: UPlot, ticks: number[]) => {
          const across = (ticks.at(-1) ?? 0) - (ticks[0] ?? 0);
          return ticks.map((tick) => timeOf(tick, across < SECONDS_RANGE));
        },
      },
      {
        ...axis,
        size: 72,
        values: (_: UPlot, ticks: number[]) => ticks.map(format),
      },
    ],
    series: [
      {},
      ...series.map(({ label }, index) => ({
        label,
        stroke: strokes[index] ?? token("--text"),
        width: 2,
        fill: (plot: UPlot) =>
          (isSparse(plot.data[index + 1]) ? strokes[index] : undefined) ?? "transparent",
        paths,
        points: { show: false, filter: alone, size: 4, fill: strokes[index] ?? token("--text") },
      })),
    ],
  };
}

const dataOf = ({ times, series }: PlotProps): UPlot.AlignedData => [
  [...times],
  ...series.map(({ values }) => [...values]),
];

/** A plot over time with axes and units. Its accessible name states the latest values. */
export function Plot(props: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(null);
  const latest = useRef(props);
  const [point, setPoint] = useState<number | null>(null);
  latest.current = props;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const draw = () => {
      plot.current?.destroy();
      const { current } = latest;
      plot.current = new UPlot(
        optionsOf(element.clientWidth, current, () => latest.current, setPoint),
        dataOf(current),
        element,
      );
    };
    const resized = new ResizeObserver(() => {
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT_PX });
    });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    draw();
    resized.observe(element);
    dark.addEventListener("change", draw);
    return () => {
      resized.disconnect();
      dark.removeEventListener("change", draw);
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(dataOf(props)));
  // The values under the pointer, or else the latest ones.
  const last = props.series.map(({ label, values }) => {
    const value = values.at(point ?? -1) ?? null;
    return { label, text: value === null ? "none" : props.format(value) };
  });
  const at = point === null ? undefined : props.times[point];
  return (
    <figure class="plot">
      <figcaption>
        {last.map(({ label, text }, index) => (
          <span key={label} class={index === 0 ? "first" : "second"}>
            {label} <b>{text}</b>
          </span>
        ))}
        {at !== undefined && <span class="plot-time">{timeOf(at, true)}</span>}
      </figcaption>
      <div
        ref={place}
        role="img"
        aria-label={`${props.title}: ${last.map(({ label, text }) => `${label} ${text}`).join(", ")}`}
      />
    </figure>
  );
}
