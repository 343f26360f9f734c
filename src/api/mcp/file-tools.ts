import { type Static, Type } from "@sinclair/typebox";
import {
  type File,
  FileHeading,
  FileListQuery,
  type FilePage,
  FileSummary,
} from "../../content/files/schema.ts";
import { Project, type ProjectPage } from "../../content/projects/schema.ts";
import { ScopeQuery } from "../../content/scopes/scope-query.ts";
import { Filter } from "../../domain/filter/schema.ts";
import { PAGE_DEFAULT, PAGE_MAX } from "../../domain/limits.ts";
import { validator } from "../../domain/problem/validate.ts";
import { count, nullable, nullableText, ProjectParams, text } from "../../domain/schemas.ts";
import type { Tool } from "./tool.ts";

/**
 * Default length of the text that an assistant reads per call: a few thousand tokens, which leave room in its context.
 */
const MCP_READ_DEFAULT_CHARS = 8_000;
const MCP_READ_MAX_CHARS = 40_000;
const MCP_HEADINGS_MAX = 40;
const MCP_RELEASES_MAX = 10;

const Page = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_MAX,
      description: `The page size. Default: that of the cursor, else ${PAGE_DEFAULT}.`,
    }),
  ),
  cursor: Type.Optional(text("`next` of the page before.")),
});
const next = nullableText("The `cursor` of the next page; null on the last page.");

/** The cursor in a link to a page. */
export function cursorOf(link: string | null): string | null {
  return link === null ? null : new URLSearchParams(link.split("?")[1]).get("cursor");
}

/** Arguments as the query of a request. */
function queryOf(args: object): Record<string, string> {
  const given = Object.entries(args).filter(([, value]) => value != null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

const checkPage = validator(Page);

const ProjectList = Type.Object({
  data: Type.Array(
    Type.Object({
      slug: Project.properties.slug,
      name: Project.properties.name,
      description: Project.properties.description,
      environments: Type.Array(Type.String(), { description: "The names of its environments." }),
      releases: Type.Array(Type.String(), {
        description: `The names of its newest ${MCP_RELEASES_MAX} releases, the newest first.`,
      }),
    }),
    { description: "The projects in order of slug." },
  ),
  next,
});

export const listProjects: Tool = {
  name: "list_projects",
  title: "List projects",
  description:
    "Lists the projects that can be read, with their environments and newest releases. `slug` is the " +
    "`project_reference` of the other tools.",
  input: Page,
  operationIds: ["listProjects"],
  callOf: (args) => ({ operationId: "listProjects", params: {}, query: queryOf(checkPage(args)) }),
  excerpt: {
    output: ProjectList,
    of(answer): Static<typeof ProjectList> {
      const { data, page_info } = answer as ProjectPage;
      const short = data.map(({ slug, name, description, environments = [], releases = [] }) => ({
        slug,
        name,
        ...(description === undefined ? {} : { description }),
        environments: environments.map((each) => each.name),
        releases: releases.slice(0, MCP_RELEASES_MAX).map((each) => each.name),
      }));
      return { data: short, next: cursorOf(page_info.next) };
    },
  },
};

const ListInput = Type.Object({
  ...ProjectParams.properties,
  ...ScopeQuery.properties,
  path_prefix: FileListQuery.properties.path_prefix,
  filter: Type.Optional(Filter),
  ...Page.properties,
});
const checkList = validator(ListInput);

const { id: _id, version_id: _version, ...shown } = FileSummary.properties;
const FileList = Type.Object({
  data: Type.Array(Type.Object(shown), { description: "The files in byte order of their paths." }),
  next,
});

export const listFiles: Tool = {
  name: "list_files",
  title: "List files",
  description:
    "Lists the files of a project by path, with title and size. `path_prefix` lists a folder. To find " +
    "files by their content, use `lookup`.",
  input: ListInput,
  operationIds: ["listFiles"],
  callOf(args) {
    const { project_reference, filter, ...rest } = checkList(args);
    const query = queryOf({ ...rest, filter: filter && JSON.stringify(filter) });
    return { operationId: "listFiles", params: { project_reference }, query };
  },
  excerpt: {
    output: FileList,
    of(answer) {
      const { data, page_info } = answer as FilePage;
      const short = data.map(({ id: _, version_id: __, ...file }) => file);
      return { data: short, next: cursorOf(page_info.next) };
    },
  },
};

const ReadInput = Type.Object({
  ...ProjectParams.properties,
  file: text("The file's path, as other tools name it, or its id."),
  ...ScopeQuery.properties,
  start_offset: Type.Optional(count("Where to begin, in UTF-16 units. Default: 0.")),
  length: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MCP_READ_MAX_CHARS,
      description: `How much to read, in UTF-16 units. Default: ${MCP_READ_DEFAULT_CHARS}.`,
    }),
  ),
});
const checkRead = validator(ReadInput);

const Excerpt = Type.Object({
  path: FileSummary.properties.path,
  title: FileSummary.properties.title,
  version_id: FileSummary.properties.version_id,
  total_length: Type.Integer({ description: "The length of the whole content in UTF-16 units." }),
  start_offset: Type.Integer({ description: "Where the range begins." }),
  end_offset: Type.Integer({ description: "Where the range ends." }),
  next_offset: nullable(
    Type.Integer(),
    "`start_offset` of the following range; null at the end of the file.",
  ),
  content: text("The range of the content."),
  headings: Type.Array(FileHeading, {
    description:
      "The nearest headings: those above the beginning of the range, the highest first, and those " +
      `that follow, ${MCP_HEADINGS_MAX} at most.`,
  }),
});

/** The end of a range: after a line if one ends in its second half, and not within a character. */
function rangeEnd(content: string, start: number, length: number): number {
  const end = start + length;
  if (end >= content.length) return content.length;
  const line = content.lastIndexOf("\n", end - 1) + 1;
  if (line > start + length / 2) return line;
  return beginOf(content, end) > start ? beginOf(content, end) : end + 1;
}

/** The offset, or that of the character that it is within. */
function beginOf(content: string, offset: number): number {
  const unit = content.charCodeAt(offset);
  return offset > 0 && unit >= 0xdc00 && unit <= 0xdfff ? offset - 1 : offset;
}

/** The headings that an offset is under, and those after it. */
function nearestHeadings(headings: readonly FileHeading[], offset: number): FileHeading[] {
  const above: FileHeading[] = [];
  const before = headings.filter(({ start_offset: start }) => start < offset);
  for (const heading of before) {
    while (above.length > 0 && (above.at(-1) as FileHeading).level >= heading.level) above.pop();
    above.push(heading);
  }
  return [...above, ...headings.slice(before.length)].slice(0, MCP_HEADINGS_MAX);
}

export const readFile: Tool = {
  name: "read_file",
  title: "Read a file",
  description:
    "Reads a range of a file, with the nearest headings. Long files are read range by range: " +
    "`next_offset` is the `start_offset` of the next one. The offsets of headings and chunks can be used, too.",
  input: ReadInput,
  operationIds: ["getFile"],
  callOf(args) {
    const { project_reference, file, environment, release } = checkRead(args);
    const params = { project_reference, file_reference: file };
    return { operationId: "getFile", params, query: queryOf({ environment, release }) };
  },
  excerpt: {
    output: Excerpt,
    of(answer, args): Static<typeof Excerpt> {
      const { path, title, version_id, headings, ...file } = answer as File;
      const { start_offset: from = 0, length = MCP_READ_DEFAULT_CHARS } = checkRead(args);
      const content = file.content ?? "";
      const start = beginOf(content, Math.min(from, content.length));
      const end = rangeEnd(content, start, length);
      return {
        path,
        title,
        version_id,
        total_length: content.length,
        start_offset: start,
        end_offset: end,
        next_offset: end < content.length ? end : null,
        content: content.slice(start, end),
        headings: nearestHeadings(headings, start),
      };
    },
  },
};
