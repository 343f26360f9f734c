import { type Static, Type } from "@sinclair/typebox";
import { Chunk } from "../../domain/chunk.ts";
import { Filter, FilterParameter } from "../../domain/filter/schema.ts";
import {
  DIMENSIONS,
  SEARCH_LIMIT_DEFAULT,
  SEARCH_LIMIT_MAX,
  SEARCH_THRESHOLD_DEFAULT,
} from "../../domain/limits.ts";
import { onlyPage } from "../../domain/page-info.ts";
import {
  anyObject,
  described,
  listOf,
  number,
  project_reference,
  text,
} from "../../domain/schemas.ts";

const EXAMPLE_DIMENSION = 768;

export const EnvironmentSearchParams = Type.Object({
  project_reference,
  environmentName: text("The environment's name.", "production"),
});

export const ReleaseSearchParams = Type.Object({
  project_reference,
  version: text("The release's name or its id.", "v1.0.0"),
});

const Dimension = Type.Union(
  DIMENSIONS.map((dimension) => Type.Literal(dimension)),
  { description: "The number of elements of the vector." },
);

export const Limit = Type.Number({
  minimum: 1,
  maximum: SEARCH_LIMIT_MAX,
  default: SEARCH_LIMIT_DEFAULT,
  description: "The maximum number of results; a fraction is rounded down.",
});

const Threshold = Type.Number({
  minimum: 0,
  maximum: 1,
  default: SEARCH_THRESHOLD_DEFAULT,
  description: "The minimum score of a result.",
});

/** The parameters of a search except the vector, which `body.ts` checks. */
export const SearchOptions = Type.Object({
  dimension: Dimension,
  limit: Type.Optional(Limit),
  threshold: Type.Optional(Threshold),
  filter: Type.Optional(Filter),
});
export type SearchOptions = Static<typeof SearchOptions>;

export const VectorArray = Type.Array(Type.Number(), {
  minItems: Math.min(...DIMENSIONS),
  maxItems: Math.max(...DIMENSIONS),
  description: "A pre-computed query embedding: finite numbers, not all of them zero.",
});

export const VectorBase64 = Type.String({
  contentEncoding: "base64",
  description: "The same vector as base64 of little-endian float32 bytes.",
});

const Vector = Type.Union([VectorArray, VectorBase64], {
  description: "The query embedding.",
});

/** The documented JSON body of a search. */
export const SearchBody = described("SearchRequest", "A search by vector.", {
  vector: Vector,
  ...SearchOptions.properties,
});

export const SearchOctets = Type.String({
  contentMediaType: "application/octet-stream",
  format: "binary",
  description: "The vector as little-endian float32; the other parameters are in the query string.",
});

/**
 * The same options as query parameters. They apply to a binary body only, so `body.ts` checks them
 * together with it. `effort` and `count` apply to every body.
 */
export const SearchQueryParameters = Type.Object({
  effort: Type.Optional(
    Type.Literal("exact", {
      type: "string",
      errorMessage: "must be exact, or absent",
      examples: ["exact"],
      description:
        "`exact` compares every chunk in full precision instead of finding candidates first. The " +
        "time grows with the number of chunks; few exact searches run at once, and other searches " +
        "go first.",
      "x-tessera-extension": true,
    }),
  ),
  count: Type.Optional(
    Type.Literal("exact", {
      type: "string",
      errorMessage: "must be exact, or absent",
      examples: ["exact"],
      description:
        "`exact` makes `total_matches` exact, whatever the size of the scope. It compares every chunk, " +
        "as `effort=exact` does.",
      "x-tessera-extension": true,
    }),
  ),
  dimension: Type.Optional(
    Type.Any({
      type: "integer",
      enum: [...DIMENSIONS],
      description: "Required with a binary body, ignored otherwise.",
      examples: [EXAMPLE_DIMENSION],
    }),
  ),
  limit: Type.Optional(
    Type.Any({
      ...documentedOnly(Limit),
      description: "With a binary body: the maximum number of results.",
      examples: [10],
    }),
  ),
  threshold: Type.Optional(
    Type.Any({
      ...documentedOnly(Threshold),
      description: "With a binary body: the minimum score.",
      examples: [0.7],
    }),
  ),
  filter: Type.Optional(
    Type.Any({
      ...documentedOnly(FilterParameter),
      description: "With a binary body: a filter as JSON. See the schema `Filter`.",
      "x-tessera-extension": true,
    }),
  ),
});

/** A schema without its symbols, which is documented but not enforced. */
function documentedOnly(schema: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
}

export const FoundChunk = described("FoundChunk", "A chunk of a file version, as indexed.", {
  ...Chunk.properties,
  metadata: anyObject("The metadata it was imported with."),
});

const never = Type.Null({ description: "Null: a search has one page." });

export const SearchResponse = described("SearchResponse", "The chunks nearest to the vector.", {
  data: listOf(
    described("SearchHit", "A chunk that was found.", {
      chunk: FoundChunk,
      score: number("Cosine similarity, calculated in full precision."),
      match_type: text("`semantic`."),
    }),
    "Best first; equal scores in the order of the chunks' ids.",
  ),
  page_info: Type.Object(
    {
      self: text("The request's path."),
      first: never,
      next: never,
      prev: never,
    },
    { description: "Links, as in every list." },
  ),
  search_time_ms: number("Duration of the search itself, in milliseconds."),
  total_matches: number(
    "The number of chunks of the scope that reach the threshold, exactly or at least, as " +
      "`X-Total-Matches` says. Never less than the number of results.",
  ),
});

export const exampleBody = {
  vector: Array.from({ length: EXAMPLE_DIMENSION }, (_, i) => Number(Math.sin(i + 1).toFixed(2))),
  dimension: EXAMPLE_DIMENSION,
  limit: 10,
  threshold: 0.7,
};

/** Four bytes of ASCII are a float32 as well: these are about 0.046, 0.19 and 0.75. */
export const exampleOctets = ["====", ">>>>", "????"].join("").repeat(EXAMPLE_DIMENSION / 3);

export const exampleResponse: Static<typeof SearchResponse> = {
  data: [
    {
      chunk: {
        id: "0197a3c2-5d1e-7c0b-9a40-3f2b6f1c8e55",
        file_path: "guides/getting-started.md",
        file_id: "0197a3c2-5d1e-7c0b-9a40-000000000001",
        file_version_id: "0197a3c2-5d1e-7c0b-9a40-000000000002",
        index: 0,
        content: "Install the command line tool, then create a project.",
        start_offset: 0,
        end_offset: 53,
        token_count: 11,
        metadata: { headings: ["Getting started"] },
      },
      score: 0.9134,
      match_type: "semantic",
    },
  ],
  page_info: onlyPage("/projects/demo/environments/production/search"),
  search_time_ms: 0.214,
  total_matches: 1,
};
