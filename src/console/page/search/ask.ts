import { useEffect, useRef, useState } from "preact/hooks";
import { call, projectPath, type Schemas } from "../base/api.ts";
import { useResource } from "../base/resource.ts";
import { filterOf, type Question } from "./question.ts";
import { dimensionOf } from "./vector.ts";

type Hit = Schemas["RetrieveHit"];
type Page = Omit<Schemas["RetrieveResponse"], "data"> & { data: Hit[] };

const LIMIT = 20;
/** Maximum files of a page without a query. */
const LISTED = 12;

/** A result in the list: a hit, or a file that is listed without a question. */
export interface Found {
  readonly key: string;
  /** The file's id, or its path. */
  readonly file: string;
  readonly path: string;
  readonly chunk: Schemas["FoundChunk"] | null;
  readonly title: string | undefined;
  readonly heading: string | null | undefined;
  readonly highlight: Schemas["Snippet"] | undefined;
  /** Absent in a list. */
  readonly match: Pick<Hit, "score" | "scores" | "match_type"> | undefined;
}

export interface Results {
  readonly found: readonly Found[];
  readonly total: number;
  /** True if there may be more matches than the total. */
  readonly atLeast: boolean;
  /** The mode of the retrieval; undefined for a list of files. */
  readonly mode: string | undefined;
  readonly searchMs: number | undefined;
  readonly ms: number;
  readonly next: string | null;
}

function foundOf(hit: Hit): Found {
  const { chunk, file, title, heading, highlight, score, scores, match_type } = hit;
  return {
    key: chunk?.id ?? file?.id ?? "",
    file: chunk?.file_id ?? file?.id ?? "",
    path: chunk?.file_path ?? file?.path ?? "",
    chunk,
    title,
    heading,
    highlight,
    match: { score, scores, match_type },
  };
}

export const isAsked = ({ query, like, vector }: Question): boolean =>
  query !== "" || like !== "" || vector !== "";

const targetOf = ({ target }: Question) =>
  target === undefined ? {} : { target: { [target.kind]: target.name } };

const restrictionOf = (question: Question) => {
  const filter = filterOf(question);
  return filter === undefined ? {} : { filter };
};

/**
 * The body of a retrieval without the query or the vector. Hits with low scores are included, because users see the
 * scores and judge for themselves.
 */
export function optionsOf(question: Question): Record<string, unknown> {
  const byVector = question.query === "";
  const mode = byVector ? "semantic" : question.mode;
  const threshold = mode === "semantic" ? { threshold: 0 } : {};
  return { mode, ...threshold, ...targetOf(question), ...restrictionOf(question), limit: LIMIT };
}

/** The body of a retrieval, with the vector if the question has one. */
export function bodyOf(question: Question, vector: string): Record<string, unknown> {
  const asked =
    vector === "" ? { query: question.query } : { vector, dimension: dimensionOf(vector) };
  return { ...asked, ...optionsOf(question) };
}

export const embeddingPath = ({ project, like }: Question): string =>
  projectPath(project, "chunks", like, "embedding");

/** The vector of a question; empty for a question in words. */
async function vectorOf(question: Question, signal: AbortSignal): Promise<string> {
  if (question.like === "") return question.vector;
  const path = embeddingPath(question);
  return (await call<Schemas["ChunkEmbedding"]>(path, { signal })).body.vector;
}

async function retrieve(question: Question, cursor: string | null, signal: AbortSignal) {
  const json = cursor === null ? bodyOf(question, await vectorOf(question, signal)) : { cursor };
  const path = projectPath(question.project, "retrieve");
  const { body, headers, ms } = await call<Page>(path, {
    method: "POST",
    isRead: true,
    json,
    signal,
  });
  const mode = headers.get("x-retrieval") ?? undefined;
  return {
    found: body.data.map(foundOf),
    total: body.total_matches,
    atLeast: mode !== "keyword" && body.page_info.next !== null,
    mode,
    searchMs: body.search_time_ms,
    ms,
    next: body.page_info.next,
  };
}

/** Lists the files in order of path, without a question. */
async function browse(question: Question, cursor: string | null, signal: AbortSignal) {
  const { target } = targetOf(question);
  const json = {
    ...(target === undefined ? {} : { lookup_target: target }),
    ...restrictionOf(question),
    ...(cursor === null ? {} : { cursor }),
    limit: LISTED,
  };
  const path = projectPath(question.project, "knowledge", "lookup");
  const sent = { method: "POST", isRead: true, json, signal } as const;
  const { body, ms } = await call<Schemas["LookupPage"]>(path, sent);
  const found = body.data.map(
    (item): Found => ({
      key: item.path,
      file: item.path,
      path: item.path,
      chunk: null,
      title: item.title,
      heading: undefined,
      highlight: undefined,
      match: undefined,
    }),
  );
  const { next } = body.page_info;
  const total = body.total_matches;
  return { found, total, atLeast: false, mode: undefined, searchMs: undefined, ms, next };
}

function ask(question: Question, cursor: string | null, signal: AbortSignal): Promise<Results> {
  return (isAsked(question) ? retrieve : browse)(question, cursor, signal);
}

/** The results of a question, with further pages on request. The last results stay until new ones arrive. */
export function useResults(question: Question) {
  const key = question.project === "" ? undefined : JSON.stringify(question);
  const first = useResource(key, (signal) => ask(question, null, signal), { keep: true });
  const [more, setMore] = useState<readonly Results[]>([]);
  const leaving = useRef(new AbortController());
  // Further pages belong to a first one.
  useEffect(() => {
    setMore([]);
    leaving.current = new AbortController();
    return () => leaving.current.abort();
  }, [first.value]);
  const pages = first.value === undefined ? [] : [first.value, ...more];
  const last = pages.at(-1);
  const loadMore = async () => {
    const { signal } = leaving.current;
    if (last === undefined || last.next === null) return;
    const page = await ask(question, last.next, signal);
    if (!signal.aborted) setMore((before) => [...before, page]);
  };
  const results =
    first.value === undefined || last === undefined
      ? undefined
      : { ...first.value, found: pages.flatMap(({ found }) => found), next: last.next };
  return { ...first, results, loadMore };
}
