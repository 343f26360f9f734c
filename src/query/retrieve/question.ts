import { type Static, Type } from "@sinclair/typebox";
import { readFilter } from "../../content/scopes/filter.ts";
import { LookupTarget, otherQuestion } from "../../content/scopes/target.ts";
import { isField } from "../../domain/filter/check.ts";
import { hasAtMost } from "../../domain/formats.ts";
import {
  GROUP_SIZE_DEFAULT,
  GROUP_SIZE_MAX,
  LOOKUP_QUERY_MAX_CHARS,
  SEARCH_LIMIT_DEFAULT,
  SEARCH_LIMIT_MAX,
  SEARCH_THRESHOLD_DEFAULT,
} from "../../domain/limits.ts";
import { invalid } from "../../domain/problem/problem.ts";
import type { FieldError } from "../../domain/problem/schema.ts";
import { nullable } from "../../domain/schemas.ts";
import { base64Of } from "../../domain/vector.ts";
import { decodeVector } from "../search/vector.ts";
import { RetrievalMode, type RetrieveInput } from "./schema.ts";

/** The question of a retrieval. All pages of a cursor answer the same question. */
export const Question = Type.Object({
  projectId: Type.String(),
  query: nullable(Type.String()),
  /** Base64 of little-endian float32. */
  vector: nullable(Type.String()),
  /** Sources as JSON. */
  like: nullable(Type.String()),
  unlike: nullable(Type.String()),
  mode: RetrievalMode,
  target: nullable(LookupTarget),
  limit: Type.Integer({ minimum: 1, maximum: SEARCH_LIMIT_MAX }),
  threshold: Type.Number(),
  /** The most hits of a group; 0 without groups. */
  groupSize: Type.Integer({ minimum: 0, maximum: GROUP_SIZE_MAX }),
  diversity: Type.Number({ minimum: 0, maximum: 1 }),
  /** The fields of facets as JSON; null without any. */
  facets: nullable(Type.String()),
  /** The checked filter as canonical JSON text. */
  filter: nullable(Type.String()),
});
export type Question = Readonly<Static<typeof Question>>;

export const RetrieveState = Type.Object({
  question: Question,
  /** The mode of the answer: that of the question, or `keyword` while the embedder is away. */
  answered: RetrievalMode,
  /** The vector that is searched for: that of the question, or made of it. */
  vector: nullable(Type.String()),
  /** The fingerprint of the project's embedder. Only vectors of this embedder are comparable with `vector`. */
  embedder: nullable(Type.String()),
  /** The chunks and files that the answer leaves out. */
  excluded: Type.Object({
    chunkIds: Type.Array(Type.String()),
    paths: Type.Array(Type.String()),
    chunks: Type.Integer({ minimum: 0 }),
  }),
  /** The state after the earlier pages, in the engine's own form. */
  progress: Type.String(),
});
export type RetrieveState = Readonly<Static<typeof RetrieveState>>;

function groupingOf({ group_by, group_size }: RetrieveInput): Partial<Question> {
  if (group_by === undefined && group_size === undefined) return {};
  return { groupSize: Math.floor(group_size ?? GROUP_SIZE_DEFAULT) };
}

/** The members of a question that the body gives, or the faults of the body. */
function given(body: RetrieveInput): Partial<Question> | FieldError[] {
  const faults: FieldError[] = [];
  const query = body.query?.trim();
  if (query === "") faults.push({ field: "query", message: "must not be blank" });
  if (query !== undefined && !hasAtMost(LOOKUP_QUERY_MAX_CHARS, query)) {
    const message = `must have at most ${LOOKUP_QUERY_MAX_CHARS} characters`;
    faults.push({ field: "query", message });
  }
  const { dimension, limit, threshold, target, mode, diversity, like, unlike } = body;
  const hasVector = body.vector !== undefined && body.vector !== null;
  const vector = hasVector ? decodeVector(body.vector, { dimension, minLength: 1 }) : undefined;
  if (Array.isArray(vector)) faults.push(...vector);
  if (hasVector && dimension === undefined) {
    faults.push({ field: "dimension", message: "is required with a vector" });
  }
  for (const [i, name] of (body.facets ?? []).entries()) {
    const message = "is not a field: use path, frontmatter.<key> or metadata.<key>";
    if (!isField(name)) faults.push({ field: `facets[${i}]`, message });
  }
  const filter = readFilter(body.filter);
  if (Array.isArray(filter)) faults.push(...filter);
  if (faults.length > 0 || Array.isArray(vector) || Array.isArray(filter)) return faults;
  return {
    ...(query === undefined ? {} : { query }),
    ...(vector === undefined ? {} : { vector: base64Of(vector) }),
    ...(body.filter === undefined ? {} : { filter }),
    ...(limit === undefined ? {} : { limit: Math.floor(limit) }),
    ...(threshold === undefined ? {} : { threshold }),
    ...(like === undefined ? {} : { like: JSON.stringify(like) }),
    ...(unlike === undefined ? {} : { unlike: JSON.stringify(unlike) }),
    ...(body.facets === undefined ? {} : { facets: JSON.stringify([...new Set(body.facets)]) }),
    ...(mode === undefined ? {} : { mode }),
    ...groupingOf(body),
    ...(diversity === undefined ? {} : { diversity }),
    ...(target === undefined ? {} : { target }),
  };
}

function checked(body: RetrieveInput): Partial<Question> {
  const known = given(body);
  if (Array.isArray(known)) throw invalid(known);
  return known;
}

/** The question of a first page. Throws a 400 about the faults of the body. */
export function firstQuestion(projectId: string, body: RetrieveInput): Question {
  const known = checked(body);
  const { query = null, vector = null, like = null, unlike = null } = known;
  if (query === null && vector === null && like === null) {
    throw invalid([{ field: "query", message: "is required, unless a vector or like is given" }]);
  }
  const { mode = query === null ? "semantic" : "hybrid" } = known;
  if (mode !== "semantic" && query === null) {
    throw invalid([{ field: "query", message: `is required in the mode ${mode}` }]);
  }
  if (mode === "keyword" && (like ?? unlike) !== null) {
    const message = "compares embeddings, which the mode keyword does not";
    throw invalid([{ field: like === null ? "unlike" : "like", message }]);
  }
  if (body.group_size !== undefined && body.group_by === undefined) {
    throw invalid([{ field: "group_by", message: "is required with a group_size" }]);
  }
  // A source alone asks for the nearest chunks at any distance, so the threshold is 0.
  const isLikeAlone = (query ?? vector) === null;
  const threshold = mode === "semantic" && !isLikeAlone ? SEARCH_THRESHOLD_DEFAULT : 0;
  const rest = {
    query,
    vector,
    like,
    unlike,
    mode,
    target: null,
    filter: null,
    facets: null,
    groupSize: 0,
    diversity: 0,
  };
  return { projectId, limit: SEARCH_LIMIT_DEFAULT, threshold, ...rest, ...known };
}

/** Throws `invalid-cursor` unless the members of a body with a cursor equal those of its question. */
export function requireSame(question: Question, body: RetrieveInput): void {
  const { target: _, ...known } = checked(body);
  for (const [name, value] of Object.entries(known)) {
    if (value !== question[name as keyof Question]) throw otherQuestion();
  }
}
