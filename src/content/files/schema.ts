import { type Static, Type } from "@sinclair/typebox";
import { FilterParameter } from "../../domain/filter/schema.ts";
import { IMPORT_PATH_MAX_BYTES } from "../../domain/limits.ts";
import { pageOf } from "../../domain/page-info.ts";
import {
  count,
  dateTime,
  described,
  FrontmatterEntry,
  integer,
  listOf,
  nullableText,
  ProjectParams,
  storable,
  text,
  uuid,
} from "../../domain/schemas.ts";
import { PageQuery } from "../../http/pages.ts";
import { ScopeQuery } from "../scopes/scope-query.ts";

export const FileListQuery = Type.Object({
  ...ScopeQuery.properties,
  path_prefix: Type.Optional(
    Type.String({
      ...storable,
      maxLength: IMPORT_PATH_MAX_BYTES,
      description: "Only files whose path begins with this text.",
      examples: ["docs/"],
    }),
  ),
  filter: Type.Optional(FilterParameter),
  ...PageQuery.properties,
});
export type FileListQuery = Static<typeof FileListQuery>;

export const FileParams = Type.Object({
  ...ProjectParams.properties,
  file_reference: text(
    "The file's id, or its path as one percent-encoded segment, such as `getting-started%2Fquickstart.md`.",
    "getting-started%2Fquickstart.md",
  ),
});

/** The working set that is changed. */
export const WorkingSetQuery = Type.Object({
  environment: Type.Optional({
    ...Type.String(storable),
    description:
      "The environment whose working set changes, by name. By default `production`, or else the " +
      "project's first environment by name.",
    examples: ["production"],
  }),
});

export const WrittenFileParams = Type.Object({
  ...ProjectParams.properties,
  file_reference: text(
    "The path as one percent-encoded segment, such as `getting-started%2Fquickstart.md`.",
    "getting-started%2Fquickstart.md",
  ),
});

export const ChangeHeaders = Type.Object({
  "If-Match": Type.Optional(
    text(
      "The ETag of the version that is to be changed; `*` for any. Otherwise the answer is 412.",
    ),
  ),
});

export const WriteHeaders = Type.Object({
  ...ChangeHeaders.properties,
  "If-None-Match": Type.Optional(
    text(
      "`*` to write a file that does not exist yet; ETags of versions that are not to be replaced. " +
        "Otherwise the answer is 412.",
    ),
  ),
});

/** The members by which an answer names a file. */
const named = {
  id: uuid("The file's id."),
  path: text("The path, unique within the project."),
  title: text(
    "The frontmatter's title, else the first heading of level 1 or one that the text begins with, else the name of the file, as a lookup has it.",
  ),
};

export const FileSummary = Type.Object(
  {
    ...named,
    version_id: uuid("The id of this version of the file."),
    size: count("The bytes of the content in UTF-8; 0 without a content."),
    chunk_count: count("The number of chunks."),
    updated_at: dateTime("When this version was stored first."),
  },
  { title: "FileSummary", description: "A file and its version in an environment or a release." },
);
export type FileSummary = Static<typeof FileSummary>;

export const WrittenFile = described("WrittenFile", "A file that was written.", {
  ...named,
  warnings: Type.Optional(
    listOf(
      described("FileWarning", "A warning for the writer of a file.", {
        message: text("The possible fault of the content."),
      }),
      "Stored content that may not be as meant, such as frontmatter that cannot be read and is " +
        "text. Absent without any.",
    ),
  ),
  ...FileSummary.properties,
});
export type WrittenFile = Static<typeof WrittenFile>;

const offsets = {
  start_offset: integer("Where it starts in the content, in UTF-16 units."),
  end_offset: integer("Where it ends in the content, in UTF-16 units."),
};

export const FileHeading = described("FileHeading", "A heading and the lines that it takes.", {
  text: text("The text of the heading without markup."),
  level: Type.Integer({ minimum: 1, maximum: 6, description: "1 for the highest." }),
  ...offsets,
});
export type FileHeading = Static<typeof FileHeading>;

export const File = described("File", "A file with its content.", {
  ...named,
  content: nullableText(
    "The content, exactly as it was stored; null for a file that was imported without one.",
  ),
  frontmatter: listOf(
    FrontmatterEntry,
    "The frontmatter of a Markdown file, in file order. Nested values are compact JSON.",
  ),
  headings: listOf(FileHeading, "The headings of a Markdown file, in order."),
  chunks: listOf(
    described("FileChunk", "A chunk, by its place in the content.", {
      id: uuid("The chunk's id."),
      index: integer("Its position among the chunks, from 0."),
      ...offsets,
      token_count: integer("Its number of tokens."),
    }),
    "The chunks in order.",
  ),
  ...FileSummary.properties,
});
export type File = Static<typeof File>;

export const FilePage = pageOf("FilePage", FileSummary, "The files in byte order of their paths.");
export type FilePage = Static<typeof FilePage>;
