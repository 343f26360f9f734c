import { distributions, latencyOverLoad, latencyOverTime, recallOverThroughput } from "./plots.ts";
import { type LoadResult, RUN_COLUMNS, recallText, runCells, warnings } from "./result.ts";
import { describeArrival } from "./runs.ts";
import { escapeHtml } from "./svg.ts";

const STYLE = `
:root { color-scheme: light dark; --back: #fff; --text: #1d2330; --muted: #5b6475; --grid: #dfe3ea;
  --c0: #1f6feb; --c1: #2f9e44; --c2: #e8590c; --c3: #c2255c; --c4: #7048e8; --c5: #0c8599 }
@media (prefers-color-scheme: dark) { :root { --back: #12151c; --text: #e6e9f0; --muted: #9aa3b5;
  --grid: #2a3040; --c0: #6ea8fe; --c1: #69db7c; --c2: #ffa94d; --c3: #f783ac; --c4: #b197fc;
  --c5: #66d9e8 } }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif;
  max-width: 860px; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
p.note { color: var(--muted) } p.warning { border-left: 4px solid var(--c2); padding-left: .75rem }
.wide { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--grid); text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
svg { width: 100%; height: auto } svg text { fill: var(--text); font: 12px system-ui, sans-serif }
svg .tick { fill: var(--muted) } svg .grid { stroke: var(--grid) }
svg .line { fill: none !important; stroke-width: 2 }
${[0, 1, 2, 3, 4, 5].map((n) => `.c${n} { fill: var(--c${n}) } .line.c${n} { stroke: var(--c${n}) }`).join("\n")}
`;

const row = (tag: "td" | "th", cells: readonly string[]) =>
  `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(cell)}</${tag}>`).join("")}</tr>`;

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const body = rows.map((cells) => row("td", cells)).join("");
  return `<div class="wide"><table><thead>${row("th", header)}</thead><tbody>${body}</tbody></table></div>`;
}

function facts({ target, startedAt, recall, truth, runs }: LoadResult): string {
  const memory = target.bytesPerVector;
  const rows = [
    ["service", `${target.url}, project ${target.project}, ${target.scope}`],
    ["vectors", `${target.vectors ?? "not known"} of ${target.dimension} elements`],
    ...(memory === null ? [] : [["index memory", `${memory.toFixed(0)} bytes per vector`]]),
    ["queries", `${target.queries} ${target.queriesFrom}, bodies as ${target.body}`],
    ...recall.map((each) => ["recall", recallText(each)]),
    ...(truth === null ? [] : [["recall against", truth]]),
    ["each measurement", `${runs[0]?.seconds ?? 0} s`],
    ["started", startedAt],
  ];
  const lines = rows.map(([name = "", value = ""]) => {
    return `<tr><th scope="row">${escapeHtml(name)}</th><td style="text-align:left;white-space:normal">${escapeHtml(value)}</td></tr>`;
  });
  return `<div class="wide"><table>${lines.join("")}</table></div>`;
}

const section = (title: string, note: string, content: string) =>
  `<h2>${escapeHtml(title)}</h2><p class="note">${escapeHtml(note)}</p>${content}`;

function plots(result: LoadResult): string {
  const load = latencyOverLoad(result);
  const recall = recallOverThroughput(result);
  const heat = result.runs.map((run) =>
    section(
      `Latency over time: ${describeArrival(run.arrival)}, limit ${run.limit}`,
      "Darker: more requests of that second.",
      latencyOverTime(run),
    ),
  );
  return [
    load === undefined
      ? ""
      : section("Latency over load", "Open loops at constant rates of arrival.", load),
    recall === undefined
      ? ""
      : section(
          "Recall against throughput",
          "One point per limit, closed loop. The service chooses the effort of a search itself, so the limit is all that a client can vary.",
          recall,
        ),
    section(
      "Distribution of the latency",
      "Each further nine has the same width.",
      distributions(result),
    ),
    ...heat,
  ].join("\n");
}

/** The result as one page without scripts that loads nothing. */
export function reportPage(result: LoadResult): string {
  const doubts = warnings(result).map((line) => `<p class="warning">${escapeHtml(line)}</p>`);
  const title = `Load test of ${result.target.project}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${facts(result)}
${doubts.join("\n")}
<h2>Measurements</h2>
<p class="note">Latency in milliseconds from the intended start of each request, so waiting for a free connection is part of it.</p>
${table(RUN_COLUMNS, result.runs.map(runCells))}
${plots(result)}
</body>
</html>
`;
}
