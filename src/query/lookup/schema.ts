import { type Static, Type } from "@sinclair/typebox";
import { LookupTarget } from "../../content/scopes/target.ts";
import { Filter } from "../../domain/filter/schema.ts";
import {
  CURSOR_MAX_CHARS,
  LOOKUP_LIMIT_MAX,
  LOOKUP_QUERY_MAX_CHARS,
  LOOKUP_SHARDS_MAX,
} from "../../domain/limits.ts";
import { PageInfo } from "../../domain/page-info.ts";
import {
  count,
  described,
  FrontmatterEntry,
  integer,
  listOf,
  oneOf,
  text,
  titled,
} from "../../domain/schemas.ts";

export const LookupBody = titled("LookupRequest", {
  query: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LOOKUP_QUERY_MAX_CHARS,
      description: "The text to look for. Without it, all items are listed in path order.",
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: CURSOR_MAX_CHARS,
      description:
        "`page_info.next` of the previous page. It continues that page's query: parameters sent " +
        "with it must have the same values.",
    }),
  ),
  lookup_target: Type.Optional(LookupTarget),
  filter: Type.Optional(Filter),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LOOKUP_LIMIT_MAX,
      default: LOOKUP_LIMIT_MAX,
      description: "The maximum number of items per page.",
    }),
  ),
  shard_count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LOOKUP_SHARDS_MAX,
      default: 1,
      description: "The number of disjoint shards that the items are divided into.",
    }),
  ),
  shard_index: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 0,
      description: "The shard to look in, less than `shard_count`.",
    }),
  ),
});
export type LookupBody = Static<typeof LookupBody>;

const Offset = Type.Integer({ minimum: 0 });

export const Snippet = Type.Object(
  {
    text: text("The passage on one line. An ellipsis marks where it was cut."),
    matches: listOf(
      Type.Array(Offset, { minItems: 2, maxItems: 2 }),
      "The words that match, as [start, end) in UTF-16 code units of `text`; ascending, not " +
        "overlapping.",
    ),
  },
  {
    title: "Snippet",
    description:
      "The passage of the content that holds most of the query, as plain text without markup. Escape " +
      "`text` before it becomes HTML, one piece between offsets at a time. Absent when browsing.",
    "x-tessera-extension": true,
  },
);

const LookupItem = described("LookupItem", "A knowledge item.", {
  path: text("The file's path in the project."),
  title: Type.Optional(
    Type.String({
      description:
        "The frontmatter's title, else the first heading of level 1 or one that the text begins with, else the file name.",
      "x-tessera-extension": true,
    }),
  ),
  snippet: Type.Optional(Snippet),
  matched_fields: listOf(
    Type.String(),
    "Which of `path`, `title`, `headings`, `frontmatter.<key>` and `content` matched.",
  ),
  frontmatter: listOf(
    FrontmatterEntry,
    "The file's frontmatter in file order. Nested values are compact JSON.",
  ),
  score: Type.Optional(
    Type.Number({
      description:
        "How well the item matches. It orders the items of one answer; scores of different " +
        "queries are not comparable. Absent when browsing.",
      "x-tessera-extension": true,
    }),
  ),
});

export const LookupPage = titled("LookupPage", {
  query: text("The query without leading and trailing whitespace; empty when browsing."),
  mode: oneOf(["search", "browse"], "`search` with a query, `browse` without one."),
  data: listOf(LookupItem, "Best first. When browsing: in byte order of path."),
  page_info: PageInfo,
  returned: count("The number of items on this page."),
  total_matches: count("The number of items in the shard that match."),
  shard: Type.Object(
    {
      shard_index: integer("The shard that was looked in."),
      shard_count: integer("The number of shards."),
      total_items: integer("The number of items in the shard."),
    },
    { description: "The shard that the results come from." },
  ),
});
export type LookupPage = Static<typeof LookupPage>;
