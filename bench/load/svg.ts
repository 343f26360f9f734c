/** Plots as inline SVG. Colours are classes of the page, so that they follow its light or dark mode. */

const WIDTH = 760;
const HEIGHT = 300;
const MARGIN = { top: 16, right: 130, bottom: 44, left: 64 };
const RIGHT_EDGE = WIDTH - MARGIN.right;
const BOTTOM_EDGE = HEIGHT - MARGIN.bottom;
const LINEAR_TICKS = 5;

/** Maps values to places, with the values that an axis names. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: ReadonlyArray<readonly [value: number, label: string]>;
}

type Span = readonly [low: number, high: number];

export const X_RANGE: Span = [MARGIN.left, RIGHT_EDGE];
export const Y_RANGE: Span = [BOTTOM_EDGE, MARGIN.top];

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** A number with three significant digits and without an exponent. */
export function short(value: number): string {
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return String(Number(value.toFixed(Math.min(digits, 6))));
}

/** A step of 1, 2 or 5 times a power of ten that divides the span into a few parts. */
function stepOf(span: number): number {
  const rough = span / LINEAR_TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
}

export function linear([low, high]: Span, [from, to]: Span): Scale {
  const span = high - low || 1;
  const step = stepOf(span);
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  const ticks = Array.from({ length: Math.max(1, count) }, (_, i) => {
    const value = (first + i) * step;
    return [value, short(value)] as const;
  });
  return { at: (value) => from + ((value - low) / span) * (to - from), ticks };
}

/** Both ends are widened to powers of ten. */
export function logarithmic([low, high]: Span, [from, to]: Span): Scale {
  const first = Math.floor(Math.log10(low));
  const last = Math.max(first + 1, Math.ceil(Math.log10(high)));
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => {
    return [10 ** (first + i), short(10 ** (first + i))] as const;
  });
  const at = (value: number) =>
    from + ((Math.log10(Math.max(value, 10 ** first)) - first) / (last - first)) * (to - from);
  return { at, ticks };
}

export interface Series {
  readonly name: string;
  readonly points: ReadonlyArray<{ readonly x: number; readonly y: number; readonly text: string }>;
}

interface Axis {
  readonly label: string;
  readonly scale: Scale;
}

const place = (value: number) => value.toFixed(1);

function axes(x: Axis, y: Axis): string {
  const vertical = x.scale.ticks.map(([value, label]) => {
    const at = place(x.scale.at(value));
    return `<text class="tick" x="${at}" y="${BOTTOM_EDGE + 16}" text-anchor="middle">${label}</text>`;
  });
  const horizontal = y.scale.ticks.map(([value, label]) => {
    const at = place(y.scale.at(value));
    return (
      `<line class="grid" x1="${MARGIN.left}" x2="${RIGHT_EDGE}" y1="${at}" y2="${at}"/>` +
      `<text class="tick" x="${MARGIN.left - 6}" y="${at}" text-anchor="end" dominant-baseline="middle">${label}</text>`
    );
  });
  const middle = (MARGIN.top + BOTTOM_EDGE) / 2;
  return (
    `${vertical.join("")}${horizontal.join("")}` +
    `<text x="${(MARGIN.left + RIGHT_EDGE) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${escapeHtml(x.label)}</text>` +
    `<text x="14" y="${middle}" text-anchor="middle" transform="rotate(-90 14 ${middle})">${escapeHtml(y.label)}</text>`
  );
}

function seriesOf({ name, points }: Series, number: number, x: Scale, y: Scale): string {
  const colour = `c${number % 6}`;
  const line = points.map((point) => `${place(x.at(point.x))},${place(y.at(point.y))}`).join(" ");
  const dots = points.map(
    (point) =>
      `<circle class="${colour}" cx="${place(x.at(point.x))}" cy="${place(y.at(point.y))}" r="3.5"><title>${escapeHtml(`${name}: ${point.text}`)}</title></circle>`,
  );
  const top = MARGIN.top + 8 + number * 18;
  const key =
    `<rect class="${colour}" x="${RIGHT_EDGE + 12}" y="${top - 9}" width="10" height="10"/>` +
    `<text x="${RIGHT_EDGE + 28}" y="${top}">${escapeHtml(name)}</text>`;
  return `<polyline class="line ${colour}" points="${line}"/>${dots.join("")}${key}`;
}

function image(title: string, content: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"><title>${escapeHtml(title)}</title>${content}</svg>`;
}

/** Lines with points, whose tooltips have the values. */
export function plot(title: string, x: Axis, y: Axis, series: readonly Series[]): string {
  const lines = series.map((each, i) => seriesOf(each, i, x.scale, y.scale));
  return image(title, axes(x, y) + lines.join(""));
}

/** The colours of a plot that no page gives. */
const OWN_STYLE =
  "text { font: 12px sans-serif; fill: #333 } .tick { fill: #777 } .grid { stroke: #ddd } " +
  ".line { fill: none; stroke-width: 2 } " +
  ["#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#475569"]
    .map((colour, i) => `.c${i} { fill: ${colour} } .line.c${i} { fill: none; stroke: ${colour} }`)
    .join(" ");

/** An image as a file of its own. */
export function standalone(svg: string): string {
  const start = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" `;
  return `${svg.replace("<svg ", start).replace("</title>", `</title><style>${OWN_STYLE}</style>`)}\n`;
}

/** A heat map: counts by column and row; rows go from the bottom to the top. */
export function heatMap(
  title: string,
  x: Axis,
  y: Axis,
  columns: readonly (readonly number[])[],
  edgeOf: (row: number) => number,
): string {
  const most = Math.max(1, ...columns.flat());
  const cells = columns.flatMap((rows, column) =>
    rows.flatMap((count, row) => {
      if (count === 0) return [];
      const left = x.scale.at(column);
      const top = y.scale.at(edgeOf(row + 1));
      const size = `width="${place(x.scale.at(column + 1) - left + 0.3)}" height="${place(y.scale.at(edgeOf(row)) - top + 0.3)}"`;
      // The root shows single slow requests beside thousands of fast ones.
      const opacity = (0.12 + 0.88 * Math.sqrt(count / most)).toFixed(2);
      const text = `second ${column + 1}, ${short(edgeOf(row))} to ${short(edgeOf(row + 1))} ms: ${count}`;
      return [
        `<rect class="c0" x="${place(left)}" y="${place(top)}" ${size} fill-opacity="${opacity}"><title>${text}</title></rect>`,
      ];
    }),
  );
  return image(title, axes(x, y) + cells.join(""));
}
