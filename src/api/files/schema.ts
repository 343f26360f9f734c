import { type Static, Type } from "@sinclair/typebox";
import { PageQuery } from "../../http/pages.ts";
import { FilterParameter } from "../../shared/filter/schema.ts";
import { IMPORT_PATH_MAX_BYTES } from "../../shared/limits.ts";
import { pageOf } from "../../shared/page-info.ts";
import {
  count,
  dateTime,
  FrontmatterEntry,
  nullableText,
  ProjectParams,
  storable,
  text,
  uuid,
} from "../../shared/schemas.ts";
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
  file_reference: Type.String({
    description:
      "The file's id, or its path as one percent-encoded segment, such as `getting-started%2Fquickstart.md`.",
    examples: ["getting-started%2Fquickstart.md"],
  }),
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
  file_reference: Type.String({
    description:
      "The path as one percent-encoded segment, such as `getting-started%2Fquickstart.md`.",
    examples: ["getting-started%2Fquickstart.md"],
  }),
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

/** What is read of a file first. */
const named = {
  id: uuid("The file's id."),
  path: text("The path, unique within the project."),
  title: text(
    "The frontmatter's title, else the first heading, else the name of the file, as a lookup has it.",
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

export const WrittenFile = Type.Object(
  {
    ...named,
    warnings: Type.Optional(
      Type.Array(
        Type.Object(
          {
            message: text("What may be wrong with the content."),
          },
          { title: "FileWarning", description: "What the writer of a file should know." },
        ),
        {
          description:
            "What is stored and may not be what was meant, such as frontmatter that cannot be read and is " +
            "text. Absent without any.",
        },
      ),
    ),
    ...FileSummary.properties,
  },
  { title: "WrittenFile", description: "A file that was written." },
);
export type WrittenFile = Static<typeof WrittenFile>;

const offsets = {
  start_offset: Type.Integer({ description: "Where it starts in the content, in UTF-16 units." }),
  end_offset: Type.Integer({ description: "Where it ends in the content, in UTF-16 units." }),
};

export const FileHeading = Type.Object(
  {
    text: text("The text of the heading without markup."),
    level: Type.Integer({ minimum: 1, maximum: 6, description: "1 for the highest." }),
    ...offsets,
  },
  { title: "FileHeading", description: "A heading and the lines that it takes." },
);
export type FileHeading = Static<typeof FileHeading>;

export const File = Type.Object(
  {
    ...named,
    content: nullableText(
      "The content, exactly as it was stored; null for a file that was imported without one.",
    ),
    frontmatter: Type.Array(FrontmatterEntry, {
      description:
        "The frontmatter of a Markdown file, in file order. Nested values are compact JSON.",
    }),
    headings: Type.Array(FileHeading, {
      description: "The headings of a Markdown file, in order.",
    }),
    chunks: Type.Array(
      Type.Object(
        {
          id: uuid("The chunk's id."),
          index: Type.Integer({ description: "Its position among the chunks, from 0." }),
          ...offsets,
          token_count: Type.Integer({ description: "Its number of tokens." }),
        },
        { title: "FileChunk", description: "A chunk, by its place in the content." },
      ),
      { description: "The chunks in order." },
    ),
    ...FileSummary.properties,
  },
  { title: "File", description: "A file with its content." },
);
export type File = Static<typeof File>;

export const FilePage = pageOf("FilePage", FileSummary, "The files in byte order of their paths.");
export type FilePage = Static<typeof FilePage>;
