import { readTextSnapshot } from "../../src/indexing/text/text-snapshot.ts";
import { type KnowledgeDocument, newView, openSegment } from "../../src/text/index.ts";
import { lookUp } from "../../support/requests.ts";
import { mean, median, quantile } from "../harness/statistics.ts";
import type { Output } from "../harness/table.ts";
import { baselines } from "./baseline.ts";
import type { BenchProject } from "./world.ts";

export const PAGE = 12;
const COMPARED = new Set(["MiniSearch, tuned", "FTS5, Porter, weighted"]);
const BASELINE_QUERIES = 200;
/** Building the indexes of the other systems takes minutes beyond this. */
const BASELINE_DOCUMENTS_MAX = 50_000;

/** What was measured: each line at once, and all of them as a table at the end. */
export class Report {
  readonly #rows: Array<{ what: string; value: string; ratio: string }> = [];

  constructor(readonly out: Output) {}

  add(what: string, value: string, ratio = ""): void {
    this.#rows.push({ what, value, ratio });
    this.out.line(`${what}: ${value} ${ratio}`);
  }

  end(): void {
    this.out.frames(this.#rows);
  }
}

export const ms = (times: readonly number[], share: number) => quantile(times, share).toFixed(2);

/** CPU milliseconds per query of other systems over the same documents, in this process. */
export function cpuOfBaselines(
  documents: readonly KnowledgeDocument[],
  queries: readonly string[],
) {
  if (documents.length > BASELINE_DOCUMENTS_MAX) return [];
  const chosen = baselines(documents).filter(([name]) => COMPARED.has(name));
  const some = queries.slice(0, BASELINE_QUERIES);
  return chosen.map(([name, ask]) => {
    for (const query of some) ask(query);
    const before = process.cpuUsage();
    for (const query of some) ask(query);
    const { user, system } = process.cpuUsage(before);
    return { name, cpuMs: (user + system) / 1e3 / some.length };
  });
}

/** Runs the same lookups in this process, on the segments of the server's snapshot. */
export async function measureInProcess(
  report: Report,
  requests: number,
  directory: string,
  project: BenchProject,
  queries: readonly string[],
) {
  const text = await readTextSnapshot(directory, 0);
  if (text === null) throw new Error("the server left no snapshot");
  const members = text.members(project.environmentId);
  const segments = members.map(({ key }) => ({
    key,
    buffer: text.segments.get(key)?.segment.buffer as SharedArrayBuffer,
  }));
  const view = newView(
    segments,
    members.map((member) => member.documents),
  );
  const ask = (query: string) => lookUp(view, query, { limit: PAGE });
  for (const query of queries) ask(query);
  const times: number[] = [];
  for (let i = 0; i < requests; i++) {
    const start = performance.now();
    ask(queries[i % queries.length] as string);
    times.push(performance.now() - start);
  }
  report.add(
    `worker time per lookup (in process, ${segments.length} segments)`,
    `p50 ${ms(times, 0.5)} ms, p99 ${ms(times, 0.99)} ms, mean ${mean(times).toFixed(2)} ms`,
    "1.00",
  );
  const documents = segments.reduce((sum, { buffer }) => {
    return sum + openSegment(buffer, false).documentCount;
  }, 0);
  return { documents, mean: mean(times), p50: median(times) };
}
