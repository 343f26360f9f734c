/** Small projects to search, and the expected answers. */
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";

let projects = 0;
/** A project name that no other test uses. */
export const freshProject = () => `test-${process.pid}-${++projects}`;

/** Opens a project that no other test uses. */
export function opened(): string {
  const project = freshProject();
  native.openProject(project);
  return project;
}

export function dropProjects(): void {
  for (const project of native.projects()) native.dropProject(project);
}

export const vectorAt = (vectors: Float32Array<ArrayBuffer>, row: number, dimension = 768) =>
  vectors.slice(row * dimension, (row + 1) * dimension);

/** Ids that contain their number and ascend with it, unless `scramble` is set. */
export function idsOf(first: number, count: number, scramble = false): Uint8Array<ArrayBuffer> {
  const ids = new Uint8Array(count * 16);
  const view = new DataView(ids.buffer);
  for (let i = 0; i < count; i++) {
    if (scramble) view.setUint32(i * 16, Math.imul(first + i, 2654435761) >>> 0);
    view.setUint32(i * 16 + 12, first + i);
  }
  return ids;
}

export const textOf = (ordinal: number) => `{"id":${ordinal},"content":"chunk ${ordinal} é"}`;

/** Appends vectors with the texts and ids of their ordinals; returns their ordinals. */
export function appendAll(
  project: string,
  dimension: number,
  vectors: Float32Array<ArrayBuffer>,
  first = 0,
  scramble = false,
): Uint32Array {
  const count = vectors.length / dimension;
  const encoder = new TextEncoder();
  const texts = Array.from({ length: count }, (_, i) => encoder.encode(textOf(first + i)));
  const renderedEnds = new Uint32Array(count);
  let end = 0;
  for (const [i, text] of texts.entries()) {
    end += text.length;
    renderedEnds[i] = end;
  }
  return native.append(project, dimension, {
    ids: idsOf(first, count, scramble),
    vectors,
    rendered: new Uint8Array(Buffer.concat(texts)),
    renderedEnds,
  });
}

export function buildGraph(project: string, dimension: number): void {
  testing.maintainSync(project, dimension);
}

/** Opens a project with a graph of the first vectors, which are the scope "all". */
export function openedWithGraph(
  vectors: Float32Array<ArrayBuffer>,
  dimension: number,
  count = vectors.length / dimension,
): string {
  const project = opened();
  appendAll(project, dimension, vectors.slice(0, count * dimension));
  buildGraph(project, dimension);
  setScope(project, "all", dimension, upTo(count));
  return project;
}

/** Maintains an index in the background, as the service does, until it is stopped and complete. */
export function maintainInBackground(
  project: string,
  dimension: number,
  threads = 2,
  kept?: Uint32Array,
) {
  let stopping = false;
  const running = (async () => {
    for (let complete = false; !(complete && stopping); ) {
      const step = await native.maintain(
        project,
        dimension,
        kept ?? testing.everyOrdinal(project, dimension),
        threads,
      );
      if (step.compacted) native.commitCompaction(project);
      complete = step.complete;
      if (!step.worked) await Bun.sleep(5);
    }
  })();
  return {
    async stop(): Promise<void> {
      stopping = true;
      await running;
    },
  };
}

export function setScope(project: string, scope: string, dimension: number, members: number[]) {
  const ranges = Uint32Array.from(members.flatMap((ordinal) => [ordinal, 1]));
  native.setScope(project, scope, [{ dimension, ranges }]);
}

/** The numbers from 0 to `count - 1`. */
export const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

export interface TrueHit {
  ordinal: number;
  score: number;
}

/** The hits of a search, computed by brute force in JavaScript. Ties are ordered by id. */
export function trueHits(
  vectors: Float32Array,
  ids: Uint8Array,
  members: number[],
  query: Float32Array,
  limit: number,
  threshold: number,
): TrueHit[] {
  const dimension = query.length;
  const dot = (a: Float32Array, b: Float32Array) => {
    let sum = 0;
    for (let i = 0; i < dimension; i++) sum += (a[i] as number) * (b[i] as number);
    return sum;
  };
  const length = Math.sqrt(dot(query, query));
  const idOf = (ordinal: number) => Buffer.from(ids.subarray(ordinal * 16, ordinal * 16 + 16));
  return members
    .map((ordinal) => {
      const vector = vectors.subarray(ordinal * dimension, (ordinal + 1) * dimension);
      const cosine = dot(query, vector) / (length * Math.sqrt(dot(vector, vector)));
      return { ordinal, score: Math.max(-1, Math.min(1, cosine)) };
    })
    .filter((hit) => hit.score >= threshold)
    .sort((a, b) =>
      Math.abs(a.score - b.score) > 1e-12
        ? b.score - a.score
        : idOf(a.ordinal).compare(idOf(b.ordinal)),
    )
    .slice(0, limit);
}

/** The share of the true best hits that a search finds, as planned or by the given plan, compared by score so that ties do not matter. */
export function recall(
  project: string,
  scope: string,
  dimension: number,
  queries: Float32Array<ArrayBuffer>[],
  limit = 10,
  plan?: "scan" | "graph",
): { recall: number; plans: Set<string>; short: number } {
  let found = 0;
  let wanted = 0;
  let short = 0;
  const plans = new Set<string>();
  for (const query of queries) {
    const truth = testing.exactSearch(project, scope, query, dimension, limit, -1);
    const answer = testing.searchRaw(project, scope, query, dimension, limit, -1, plan);
    const minScore = (truth.scores.at(-1) ?? 0) - 1e-9;
    wanted += truth.scores.length;
    found += answer.scores.filter((score) => score >= minScore).length;
    if (answer.scores.length < truth.scores.length) short++;
    plans.add(answer.plan);
  }
  return { recall: found / wanted, plans, short };
}

/** What searches answer by either plan, with what they have read but without their times. */
export function answersOf(
  project: string,
  scope: string,
  dimension: number,
  queries: Float32Array<ArrayBuffer>[],
) {
  return queries.flatMap((query) =>
    [10, 100].flatMap((limit) =>
      (["graph", "scan"] as const).map((plan) => {
        const answer = testing.searchRaw(project, scope, query, dimension, limit, -1, plan);
        return { ...answer, milliseconds: 0 };
      }),
    ),
  );
}
