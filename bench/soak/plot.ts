import { type Sample, SERIES, SERIES_NAMES, type SeriesName } from "./sampler.ts";

const [WIDTH, PANEL, TOP, LEFT, RIGHT] = [760, 120, 52, 64, 16];
const GAP = 34;
const GRID_LINES = 2;

/** A round number that is at least as large. */
function ceiling(value: number): number {
  const scale = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return Math.ceil(value / scale) * scale;
}

function panel(samples: readonly Sample[], name: SeriesName, top: number): string {
  const { title, unit } = SERIES[name];
  const end = samples.at(-1)?.minutes ?? 1;
  const highest = ceiling(Math.max(...samples.map((sample) => sample[name])));
  const x = (minutes: number) => LEFT + (minutes / end) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => top + PANEL - (value / highest) * PANEL;
  const points = samples.map((sample) => {
    return `${x(sample.minutes).toFixed(1)},${y(sample[name]).toFixed(1)}`;
  });
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, at) => {
    const value = (highest * at) / GRID_LINES;
    const place = y(value).toFixed(1);
    return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${place}" y2="${place}" class="grid"/>
<text x="${LEFT - 6}" y="${place}" class="tick">${value}</text>`;
  });
  return `<text x="${LEFT}" y="${top - 8}">${title}${unit === "" ? "" : `, ${unit}`}</text>
${grid.join("\n")}
<polyline points="${points.join(" ")}"/>`;
}

/** The samples as an SVG image: one panel per series, over minutes. */
export function plot(samples: readonly Sample[], heading: string): string {
  const panels = SERIES_NAMES.map((name, at) => panel(samples, name, TOP + at * (PANEL + GAP)));
  const height = TOP + SERIES_NAMES.length * (PANEL + GAP) + 8;
  const end = (samples.at(-1)?.minutes ?? 0).toFixed(0);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}">
<title>${heading}</title>
<style>
text { font: 12px sans-serif; fill: #333 }
.tick { text-anchor: end; dominant-baseline: middle; fill: #777 }
.grid { stroke: #ddd }
polyline { fill: none; stroke: #1f6feb; stroke-width: 1.5 }
</style>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="${LEFT}" y="20">${heading}</text>
${panels.join("\n")}
<text x="${LEFT}" y="${height - 10}" class="tick">0</text>
<text x="${WIDTH - RIGHT}" y="${height - 10}" class="tick">${end} minutes</text>
</svg>
`;
}
