import { type Static, Type } from "@sinclair/typebox";
import {
  CURSOR_MAX_CHARS,
  LOOKUP_LIMIT_MAX,
  LOOKUP_QUERY_MAX_CHARS,
  LOOKUP_SHARDS_MAX,
  REFERENCE_MAX_CHARS,
} from "../shared/limits.ts";
import { PageInfo } from "../shared/page-info.ts";

export const LookupParams = Type.Object({
  project_reference: Type.String({ description: "The project's id or slug." }),
});

const targetName = (description: string) =>
  Type.String({ minLength: 1, maxLength: REFERENCE_MAX_CHARS, description });

export const LookupTarget = Type.Union(
  [
    Type.Object(
      { environment: targetName("The environment's name.") },
      { additionalProperties: false },
    ),
    Type.Object(
      { release: targetName("The release's name or id.") },
      { additionalProperties: false },
    ),
  ],
  {
    description:
      "Where to look: an environment by name, or a release by name or id. Left out: the " +
      "environment `production`, else the first one by name.",
    errorMessage: 'must be {"environment": "<name>"} or {"release": "<name or id>"}',
  },
);
export type LookupTarget = Static<typeof LookupTarget>;

export const LookupBody = Type.Object({
  query: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LOOKUP_QUERY_MAX_CHARS,
      description: "What to look for. Left out: all items in path order.",
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: CURSOR_MAX_CHARS,
      description:
        "`page_info.next` of an earlier page. It goes on with that page's query; parameters " +
        "that are repeated with it must be the same.",
    }),
  ),
  lookup_target: Type.Optional(LookupTarget),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LOOKUP_LIMIT_MAX,
      default: LOOKUP_LIMIT_MAX,
      description: "The page size.",
    }),
  ),
  shard_count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LOOKUP_SHARDS_MAX,
      default: 1,
      description: "Into how many disjoint parts the items are divided.",
    }),
  ),
  shard_index: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 0,
      description: "The part to look in, below `shard_count`.",
    }),
  ),
});
export type LookupBody = Static<typeof LookupBody>;

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const FrontmatterEntry = Type.Object({
  key: Type.String({ description: "The entry's name." }),
  value: Type.String({ description: "The entry's value as text." }),
});

export const LookupPage = Type.Object({
  query: Type.String({ description: "The query without outer space; empty when browsing." }),
  mode: Type.Union([Type.Literal("search"), Type.Literal("browse")], {
    description: "`search` with a query, `browse` without.",
  }),
  data: Type.Array(
    Type.Object({
      path: Type.String({ description: "The file's path in the project." }),
      matched_fields: Type.Array(Type.String(), {
        description:
          "Which of `path`, `title`, `headings`, `frontmatter.<key>` and `content` matched.",
      }),
      frontmatter: Type.Array(FrontmatterEntry, {
        description: "The file's frontmatter in its order; nested values as compact JSON.",
      }),
    }),
    { description: "Best first, or in path order (bytes) when browsing." },
  ),
  page_info: PageInfo,
  returned: Count("How many items this page has."),
  total_matches: Count("How many items of the shard match."),
  shard: Type.Object(
    {
      shard_index: Type.Integer({ description: "The part that was looked in." }),
      shard_count: Type.Integer({ description: "Into how many parts the items are divided." }),
      total_items: Type.Integer({ description: "How many items the shard has." }),
    },
    { description: "The part of the items that was looked in." },
  ),
});
export type LookupPage = Static<typeof LookupPage>;
