import { type Static, Type } from "@sinclair/typebox";
import { FieldValue } from "../../content/fields.ts";
import { LookupTarget } from "../../content/scopes/target.ts";
import { Filter } from "../../domain/filter/schema.ts";
import {
  CURSOR_MAX_CHARS,
  DIMENSIONS,
  EMBEDDER_DIMENSION_MAX,
  FACETS_MAX,
  GROUP_SIZE_DEFAULT,
  GROUP_SIZE_MAX,
  IMPORT_PATH_MAX_BYTES,
  REFERENCE_MAX_CHARS,
} from "../../domain/limits.ts";
import { PageInfo } from "../../domain/page-info.ts";
import { count, nullable } from "../../domain/schemas.ts";
import { RETRIEVAL_MODES } from "../../engine/requests/request.ts";
import { Snippet } from "../lookup/schema.ts";
import { FoundChunk, Limit, VectorArray, VectorBase64 } from "../search/schema.ts";

/** A mode of retrieval, or the way in which a hit was found. */
export const RetrievalMode = Type.Union(RETRIEVAL_MODES.map((mode) => Type.Literal(mode)));

const Mode = Type.Union(RetrievalMode.anyOf, {
  description:
    "`semantic` compares embeddings, `keyword` finds words, `hybrid` does both. Default: `hybrid` with " +
    "a query, else `semantic`.",
  errorMessage: "must be semantic, keyword or hybrid",
});

const RetrieveSource = Type.Union(
  [
    Type.Object(
      {
        chunk_id: Type.String({
          maxLength: REFERENCE_MAX_CHARS,
          description: "The id of a chunk of the project.",
        }),
      },
      { additionalProperties: false },
    ),
    Type.Object(
      {
        path: Type.String({
          maxLength: IMPORT_PATH_MAX_BYTES,
          description: "The path of a file of the environment or the release.",
        }),
      },
      { additionalProperties: false },
    ),
  ],
  {
    title: "RetrieveSource",
    description:
      "A chunk, or a file, which stands for the mean of its chunks. It is left out of the answer.",
    errorMessage: 'must be {"chunk_id": "<id>"} or {"path": "<path>"}',
  },
);
export type RetrieveSource = Static<typeof RetrieveSource>;

/** The members of the body but the vector, which `question.ts` checks. */
const RetrieveOptions = Type.Object({
  query: Type.Optional(
    Type.String({
      description:
        "The text to look for, 1 to 500 characters without white space around it. The project's embedder " +
        "embeds it, unless a vector is given.",
    }),
  ),
  mode: Type.Optional(Mode),
  target: Type.Optional(LookupTarget),
  filter: Type.Optional(Filter),
  limit: Type.Optional(Limit),
  threshold: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        "The minimum cosine similarity of hits that only the vector found. Default: 0.7 in `semantic`, " +
        "else 0, also where `like` is all that is given.",
    }),
  ),
  group_by: Type.Optional(
    Type.Literal("file", {
      description:
        "`file` answers the best files, each with its best hits: `data` has groups, and `limit` counts them.",
      errorMessage: 'must be "file"',
    }),
  ),
  group_size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: GROUP_SIZE_MAX,
      description: `The most hits of a group, with \`group_by\`. Default: ${GROUP_SIZE_DEFAULT}.`,
    }),
  ),
  facets: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: FACETS_MAX,
      description:
        "Fields as filters name them, such as `frontmatter.tags`: the answer says how many of the files that are " +
        "found have each value.",
      examples: [["frontmatter.tags"]],
    }),
  ),
  diversity: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        "How much a hit has to differ from those before it (maximal marginal relevance): the next one has the " +
        "highest (1 - diversity) * score - diversity * its greatest cosine with those before. `score` is at most " +
        "that of the hit before. Texts alone are not compared, so in `keyword` it changes nothing. Default: 0.",
    }),
  ),
  like: Type.Optional(RetrieveSource),
  unlike: Type.Optional(RetrieveSource),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: CURSOR_MAX_CHARS,
      description:
        "`page_info.next` of the previous page. It continues that page's query: parameters sent with it " +
        "must have the same values.",
    }),
  ),
  dimension: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: EMBEDDER_DIMENSION_MAX,
      description:
        "The number of elements of the vector: that of the project's embedder, or one of " +
        `${DIMENSIONS.join(", ")}.`,
    }),
  ),
});

/** The body before `question.ts` checks it: the vector may be any value. */
export const RetrieveInput = Type.Object({
  ...RetrieveOptions.properties,
  vector: Type.Optional(Type.Unknown({ isTyped: true })),
});
export type RetrieveInput = Static<typeof RetrieveInput>;

const OwnVector = Type.Union([{ ...VectorArray, minItems: 1 }, VectorBase64], {
  description: "The query embedding.",
});

/** The documented body. */
export const RetrieveBody = Type.Object(
  { ...RetrieveOptions.properties, vector: Type.Optional(OwnVector) },
  { title: "RetrieveRequest", description: "A question by text, by vector, or by both." },
);

const FoundFile = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "The file's id." }),
    path: Type.String({ description: "The file's path." }),
    version_id: Type.String({ format: "uuid", description: "The id of the file's version." }),
  },
  { title: "FoundFile", description: "A file without chunks that was found. Absent with a chunk." },
);

const RetrieveHit = Type.Object(
  {
    title: Type.Optional(
      Type.String({ description: "The title of the file. Absent without a query." }),
    ),
    heading: Type.Optional(
      nullable(Type.String(), "The nearest heading above it. Absent without a query."),
    ),
    highlight: Type.Optional(Snippet),
    chunk: nullable(FoundChunk, "The chunk; null for a file without chunks."),
    file: Type.Optional(FoundFile),
    score: Type.Number({
      description:
        "How good it is: the cosine in `semantic`, else a fused score from 0 to 1 on a scale that is the same for all " +
        "queries. It grows with the cosine and with the share of the query that the text covers: below 0.3 it has " +
        "little of the query, and above 0.85 it repeats it.",
    }),
    match_type: Type.Union(RetrievalMode.anyOf, {
      description: "The search that found it; `hybrid` is both.",
    }),
    scores: Type.Object(
      {
        semantic: nullable(Type.Number(), "The cosine; null if the vector did not find it."),
        keyword: nullable(Type.Number(), "The lookup's score; null if the words did not find it."),
      },
      { description: "The scores that the fused one is made of." },
    ),
  },
  { title: "RetrieveHit", description: "A chunk that was found." },
);

const RetrieveGroup = Type.Object(
  {
    file: Type.Object(
      {
        id: Type.String({ format: "uuid", description: "The file's id." }),
        path: Type.String({ description: "The file's path." }),
        title: Type.String({ description: "The file's title." }),
      },
      { title: "GroupFile", description: "The file that the hits are from." },
    ),
    score: Type.Number({ description: "The score of its best hit." }),
    hits: Type.Array(RetrieveHit, {
      description:
        "Its best hits, best first. Further passages of a file that its words found score by the share of the " +
        "best one's words that they cover.",
    }),
  },
  { title: "RetrieveGroup", description: "The best hits of a file." },
);

const Facet = Type.Object(
  {
    values: Type.Array(FieldValue, {
      description: "The most frequent values, at most 100; equally frequent ones in order.",
    }),
    total: count("Different values."),
    exact: Type.Boolean({
      description:
        "False where there may be more: a retrieval counts up to 100,000 files that words have found and those of " +
        "10,000 chunks that the vector has found.",
    }),
  },
  {
    title: "Facet",
    description: "How many of the files that are found have each value of a field.",
  },
);

export const RetrievePage = Type.Object(
  {
    data: Type.Union([Type.Array(RetrieveHit), Type.Array(RetrieveGroup)], {
      description: "Hits, or groups of them with `group_by`; best first.",
    }),
    page_info: PageInfo,
    search_time_ms: Type.Number({ description: "Duration of the search itself, in milliseconds." }),
    total_matches: Type.Number({
      description: "The number of hits or groups, exactly or at least, as `X-Total-Matches` says.",
    }),
    facets: Type.Optional(
      Type.Record(Type.String(), Facet, {
        description:
          "By field, if facets were asked for. They count the files of all pages: of every hit that the filter, " +
          "the words and the threshold leave.",
      }),
    ),
  },
  { title: "RetrieveResponse" },
);
export type RetrievePage = Static<typeof RetrievePage>;
