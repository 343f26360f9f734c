import { placeOf } from "../base/places.ts";
import { type PageOptions, usePages } from "../base/resource.ts";
import { client, type Schemas, transport } from "../base/service.ts";
import { filterOf, type Question } from "./question.ts";
import { dimensionOf } from "./vector.ts";

type Hit = Schemas["RetrieveHit"];

const LIMIT = 20;
/** Maximum items of a lookup: files of a page without a question, or files whose matched fields are read. */
const LOOKUP_LIMIT = 12;

/** A result in the list: a hit, or a file that is listed without a question, which has no scores. */
export interface Found
  extends Pick<Hit, "title" | "heading" | "highlight" | "chunk">,
    Partial<Pick<Hit, "score" | "scores">> {
  /** The file's id, or its path. */
  readonly file: string;
  readonly path: string;
  /** The fields of the file that have words of the query, for a passage without them. */
  readonly fields?: readonly string[];
}

export interface Results extends Pick<Schemas["RetrieveResponse"], "page_info"> {
  readonly data: readonly Found[];
  readonly total: number;
  /** True if there may be more matches than the total. */
  readonly atLeast: boolean;
  /** The mode of the retrieval; null for a list of files. */
  readonly mode: string | null;
  readonly ms: number;
}

export const isAsked = ({ query, like, vector }: Question): boolean =>
  query !== "" || like !== "" || vector !== "";

/** The files of a question, for a lookup or a retrieval. */
function scopeOf(question: Question, target: "target" | "lookup_target") {
  const place = placeOf(question.place);
  const filter = filterOf(question);
  return { ...(place && { [target]: place }), ...(filter && { filter }) };
}

/**
 * The body of a retrieval without the query or the vector. Hits with low scores are included, because users see the
 * scores and judge for themselves.
 */
export function optionsOf(question: Question): Record<string, unknown> {
  const mode = question.query === "" ? "semantic" : question.mode;
  const threshold = mode === "semantic" ? { threshold: 0 } : {};
  return { mode, ...threshold, ...scopeOf(question, "target"), limit: LIMIT };
}

/** The body of a retrieval, with the vector if the question has one. */
export function bodyOf(question: Question, vector: string): Record<string, unknown> {
  const asked =
    vector === "" ? { query: question.query } : { vector, dimension: dimensionOf(vector) };
  return { ...asked, ...optionsOf(question) };
}

/** The vector of a question; empty for a question in words. */
async function vectorOf({ project, like, vector }: Question, page: PageOptions): Promise<string> {
  return like === "" ? vector : (await client.getChunkEmbedding(project, like, page)).vector;
}

/** The fields by which files were found, by path, for those hits that have none of the words in their passage. */
async function fieldsOf(question: Question, hits: readonly Found[], page: PageOptions) {
  const isWithout = ({ scores, highlight }: Found) =>
    (scores?.keyword ?? null) !== null && highlight?.matches.length === 0;
  const paths = [...new Set(hits.filter(isWithout).map(({ path }) => path))];
  if (paths.length === 0) return new Map<string, readonly string[]>();
  const { data } = await client.lookUpKnowledge(
    question.project,
    {
      ...scopeOf(question, "lookup_target"),
      query: question.query,
      filter: { path: { $in: paths.slice(0, LOOKUP_LIMIT) } },
      limit: LOOKUP_LIMIT,
    },
    page,
  );
  return new Map(data.map(({ path, matched_fields }) => [path, matched_fields] as const));
}

async function retrieve(question: Question, { cursor, ...page }: PageOptions): Promise<Results> {
  const json = cursor === undefined ? bodyOf(question, await vectorOf(question, page)) : { cursor };
  const startedAt = performance.now();
  let headers = new Headers();
  const answer = await transport.send<Schemas["RetrieveResponse"] & { data: Hit[] }>({
    method: "POST",
    path: ["projects", question.project, "retrieve"],
    json,
    repeatable: true,
    seen: (of) => {
      headers = of;
    },
    ...page,
  });
  const ms = performance.now() - startedAt;
  const hits = answer.data.map(({ file, ...hit }): Found => {
    const { chunk } = hit;
    return {
      ...hit,
      file: chunk?.file_id ?? file?.id ?? "",
      path: chunk?.file_path ?? file?.path ?? "",
    };
  });
  // The results are worth more than these names.
  const fields = await fieldsOf(question, hits, page).catch(() => new Map());
  const mode = headers.get("x-retrieval");
  return {
    data: hits.map((hit) => ({ ...hit, fields: fields.get(hit.path) ?? [] })),
    page_info: answer.page_info,
    total: answer.total_matches,
    atLeast: mode !== "keyword" && answer.page_info.next !== null,
    mode,
    ms,
  };
}

/** Lists the files in order of path, without a question. */
async function browse(question: Question, { cursor, ...page }: PageOptions): Promise<Results> {
  const json = {
    ...scopeOf(question, "lookup_target"),
    ...(cursor !== undefined && { cursor }),
    limit: LOOKUP_LIMIT,
  };
  const answer = await client.lookUpKnowledge(question.project, json, page);
  const { page_info, total_matches: total } = answer;
  const data = answer.data.map(
    ({ path, title = path }): Found => ({ path, file: path, title, chunk: null }),
  );
  return { data, page_info, total, atLeast: false, mode: null, ms: 0 };
}

/** The results of a question. The last ones stay until new ones arrive. */
export function useResults(question: Question) {
  const key = question.project === "" ? undefined : JSON.stringify(question);
  const ask = isAsked(question) ? retrieve : browse;
  return usePages(key, (page) => ask(question, page), { keep: true });
}
