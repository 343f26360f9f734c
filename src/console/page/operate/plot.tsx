import { useState } from "preact/hooks";

/** The size of the drawing, which is stretched to the width of the page. */
const WIDTH = 900;
const HEIGHT = 150;
const MS = 1_000;
const CLASSES = ["first", "second"];

const timeOf = (seconds: number) =>
  new Date(seconds * MS).toLocaleTimeString(undefined, { hourCycle: "h23" });

export interface PlotProps {
  readonly title: string;
  /** Seconds since 1970, at least one. */
  readonly times: readonly number[];
  /** The span of the time axis before the last time. */
  readonly seconds: number;
  /** One or two, in the two accents. A value holds since the time before; null is unknown. */
  readonly series: readonly {
    readonly label: string;
    readonly values: readonly (number | null)[];
  }[];
  readonly format: (value: number) => string;
  /** The ends of the axis of values, unless a value is beyond them. By default it begins at 0. */
  readonly bottom?: number;
  readonly top?: number;
}

/** The next number above a value that has one digit other than zero. */
function roundedUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value));
  return Math.ceil(value / unit) * unit;
}

function rangeOf({ series, bottom = 0, top }: PlotProps): readonly [low: number, high: number] {
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null));
  const highest = Math.max(bottom, ...known);
  return [Math.min(bottom, ...known), top ?? (highest > 0 ? roundedUp(highest) : 1)];
}

/** Values as steps, because a line between two of them would suggest others. */
function stepsOf(xs: readonly number[], ys: readonly (number | null)[]): string {
  return ys
    .map((y, index) => {
      if (y === null) return "";
      const from = (xs[index - 1] ?? xs[index] ?? 0).toFixed(1);
      const isNext = (ys[index - 1] ?? null) !== null;
      return `${isNext ? "L" : "M"}${from} ${y.toFixed(1)}H${xs[index]?.toFixed(1)}`;
    })
    .join("");
}

/** A plot over time with axes and units. Its accessible name states the latest values. */
export function Plot(props: PlotProps) {
  const { title, times, seconds, series, format } = props;
  const [pointed, setPointed] = useState<number | null>(null);
  const end = times.at(-1) ?? 0;
  const start = end - seconds;
  const [low, high] = rangeOf(props);
  const xs = times.map((time) => (WIDTH * (time - start)) / seconds);
  const y = (value: number | null) =>
    value === null ? null : HEIGHT * (1 - (value - low) / (high - low));
  // The values under the pointer, or else the latest ones.
  const at = pointed === null ? -1 : xs.findIndex((x) => x >= pointed);
  const shown = series.map(({ label, values }) => {
    const value = values.at(at) ?? null;
    return { label, text: value === null ? "none" : format(value) };
  });
  return (
    <figure class="plot">
      <figcaption>
        {shown.map(({ label, text }, index) => (
          <span key={label} class={CLASSES[index]}>
            {label} <b>{text}</b>
          </span>
        ))}
        {at >= 0 && <span class="plot-time">{timeOf(times[at] ?? end)}</span>}
      </figcaption>
      <div class="plot-values muted small" aria-hidden="true">
        <span>{format(high)}</span>
        <span>{format(low)}</span>
      </div>
      <svg
        role="img"
        aria-label={`${title}: ${shown.map(({ label, text }) => `${label} ${text}`).join(", ")}`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        onPointerMove={({ offsetX, currentTarget }) =>
          setPointed((WIDTH * offsetX) / currentTarget.clientWidth)
        }
        onPointerLeave={() => setPointed(null)}
      >
        {series.map(({ label, values }, index) => (
          <path key={label} class={CLASSES[index]} d={stepsOf(xs, values.map(y))} />
        ))}
        {at >= 0 && <path class="pointed" d={`M${xs[at]} 0V${HEIGHT}`} />}
      </svg>
      <div class="plot-times muted small" aria-hidden="true">
        <span>{timeOf(start)}</span>
        <span>{timeOf(end)}</span>
      </div>
    </figure>
  );
}
