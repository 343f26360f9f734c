import type { Queryable } from "../../db/client.ts";
import { scanHeadings } from "../../markdown/headings.ts";
import type { LookupRequest, Reply, RetrieveRequest, SearchRequest } from "../requests/request.ts";
import { tokenize } from "../text/index.ts";
import { type FileChunks, readFileChunks } from "./file-chunks.ts";

/** Candidates of each kind. */
const DEPTH = 100;
/** Of reciprocal rank fusion. */
const RANK_CONSTANT = 60;

interface Snippet {
  readonly text: string;
  readonly matches: ReadonlyArray<readonly [number, number]>;
}

interface Hit {
  /** The chunk's id, or the file's path. */
  readonly key: string;
  readonly path: string;
  readonly content: string;
  readonly chunk: string | null;
  readonly file: FileChunks["file"] | undefined;
  semantic: number | null;
  keyword: number | null;
  title?: string;
  snippet?: Snippet;
  score: number;
}

interface Found {
  readonly hits: readonly Hit[];
  readonly total: number;
}

const NOTHING: Found = { hits: [], total: 0 };
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** What a retrieval is composed of. */
interface Parts {
  search(request: SearchRequest): Reply<"search"> | Promise<Reply<"search">>;
  lookup(request: LookupRequest): Reply<"lookup"> | Promise<Reply<"lookup">>;
}

async function findByVector(engine: Parts, request: RetrieveRequest): Promise<Found> {
  const { scope, selfPath, vector, threshold } = request;
  if (vector === null) return NOTHING;
  const body = new Uint8Array(vector.slice().buffer);
  const options = { dimension: vector.length, limit: DEPTH, threshold };
  const search = { scope, selfPath, body, vector: options, exact: false } as const;
  const reply = await engine.search({ kind: "search", ...search });
  if (reply.status !== "answered") throw new Error("a checked vector was not searched");
  const { data, total_matches } = JSON.parse(decoder.decode(reply.json)) as {
    data: Array<{ chunk: { id: string; file_path: string; content: string }; score: number }>;
    total_matches: number;
  };
  const hits = data.map(({ chunk, score }): Hit => {
    const { id, file_path: path, content } = chunk;
    const found = { semantic: score, keyword: null, score };
    return { key: id, path, content, chunk: JSON.stringify(chunk), file: undefined, ...found };
  });
  return { hits, total: total_matches };
}

/** The chunk that holds most of the words. */
function bestPassage({ chunks }: FileChunks, words: ReadonlySet<string>) {
  const held = chunks.map(({ content }) => {
    return new Set(tokenize(content).filter((token) => words.has(token))).size;
  });
  return chunks[held.indexOf(Math.max(...held))];
}

async function findByText(engine: Parts, sql: Queryable, request: RetrieveRequest): Promise<Found> {
  const { scope, selfPath, query } = request;
  if (query === null || request.mode === "semantic") return NOTHING;
  const page = { limit: DEPTH, shardIndex: 0, shardCount: 1, progress: "", next: "" };
  const reply = await engine.lookup({ kind: "lookup", scope, selfPath, query, ...page });
  if (reply.status !== "answered") throw new Error("a lookup was not answered");
  const { data } = JSON.parse(decoder.decode(reply.json)) as {
    data: Array<{ path: string; title: string; snippet?: Snippet; score: number }>;
  };
  const files = await readFileChunks(
    sql,
    scope,
    data.map(({ path }) => path),
  );
  const words = new Set(tokenize(query));
  const hits = data.flatMap(({ path, title, snippet, score }): Hit[] => {
    const own = files.get(path);
    if (own === undefined) return [];
    const best = bestPassage(own, words);
    const chunk = best?.rendered ?? null;
    const found = { semantic: null, keyword: score, score, title, ...(snippet && { snippet }) };
    return [
      {
        key: best?.id ?? path,
        path,
        content: best?.content ?? "",
        chunk,
        file: own.file,
        ...found,
      },
    ];
  });
  return { hits, total: reply.work.total };
}

/** Both lists as one, by reciprocal rank. */
function fuse(lists: readonly Found[]): Hit[] {
  const best = (RANK_CONSTANT + 1) / lists.length;
  const fused = new Map<string, Hit>();
  for (const { hits } of lists) {
    for (const [rank, hit] of hits.entries()) {
      const gain = best / (RANK_CONSTANT + rank + 1);
      const known = fused.get(hit.key);
      if (known === undefined) {
        fused.set(hit.key, { ...hit, score: gain });
        continue;
      }
      Object.assign(known, { ...hit, semantic: known.semantic ?? hit.semantic });
      known.score += gain;
    }
  }
  return [...fused.values()].sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1));
}

function render(hit: Hit, mode: RetrieveRequest["mode"], isQuery: boolean): string {
  const { chunk, file, score, semantic, keyword, path, content } = hit;
  const both = semantic !== null && keyword !== null;
  const type = both ? "hybrid" : semantic === null ? "keyword" : "semantic";
  const parts = [`"chunk":${chunk}`];
  if (chunk === null) parts.push(`"file":${JSON.stringify(file)}`);
  parts.push(`"score":${mode === "semantic" ? semantic : score}`, `"match_type":"${type}"`);
  parts.push(`"scores":${JSON.stringify({ semantic, keyword })}`);
  if (isQuery) {
    const highlight = hit.snippet ?? {
      text: content.slice(0, 240).replace(/\s+/g, " "),
      matches: [],
    };
    const title = hit.title ?? path.slice(path.lastIndexOf("/") + 1);
    const heading = scanHeadings(content, 0)[0]?.text ?? null;
    parts.push(JSON.stringify({ highlight, title, heading }).slice(1, -1));
  }
  return `{${parts.join(",")}}`;
}

/** Answers a retrieval by a search and a lookup, whose results are fused by rank. */
export async function retrieve(
  engine: Parts,
  sql: Queryable,
  request: RetrieveRequest,
): Promise<Reply<"retrieve">> {
  const startedAt = performance.now();
  const { mode, limit, query, selfPath, next } = request;
  const lists = await Promise.all([
    mode === "keyword" ? NOTHING : findByVector(engine, request),
    findByText(engine, sql, request),
  ]);
  const returned = new Set(request.progress.split(" "));
  const left = fuse(lists.filter(({ hits }) => hits.length > 0)).filter(
    ({ key }) => !returned.has(key),
  );
  const hits = left.slice(0, limit);
  const more = left.length > limit;
  const data = hits.map((hit) => render(hit, mode, query !== null));
  const links = { self: selfPath, first: null, next: more ? next : null, prev: null };
  const tookMs = Math.round((performance.now() - startedAt) * 1_000) / 1_000;
  const total = Math.max(...lists.map((list) => list.total), hits.length);
  const json = encoder.encode(
    `{"data":[${data.join(",")}],"page_info":${JSON.stringify(links)},` +
      `"search_time_ms":${tookMs},"total_matches":${total}}`,
  );
  const progress = more ? [request.progress, ...hits.map(({ key }) => key)].join(" ").trim() : "";
  return { status: "answered", json, work: { waitMs: 0, tookMs, total, more, progress } };
}
