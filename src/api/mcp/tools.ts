import { Type } from "@sinclair/typebox";
import { invalid } from "../../domain/problem/problem.ts";
import { validator } from "../../domain/problem/validate.ts";
import { ProjectParams, text } from "../../domain/schemas.ts";
import { LookupBody, type LookupPage } from "../../query/lookup/schema.ts";
import { RetrieveInput, type RetrievePage } from "../../query/retrieve/schema.ts";
import { listFiles, listProjects, readFile } from "./file-tools.ts";
import type { NamedFile, Tool } from "./tool.ts";

const checkProject = validator(ProjectParams);

const lookup: Tool = {
  name: "lookup",
  title: "Look up knowledge",
  description:
    "Finds the Markdown documents of a project by text: path, title, headings, frontmatter and " +
    "content. Each result has a snippet with the matching passage. Without a query it lists all " +
    "documents. `page_info.next` of a result is the `cursor` of the next page.",
  input: Type.Object({ ...ProjectParams.properties, ...LookupBody.properties }),
  operationIds: ["lookUpKnowledge"],
  callOf(args) {
    const { project_reference } = checkProject(args);
    return { operationId: "lookUpKnowledge", params: { project_reference }, query: {}, body: args };
  },
  filesOf: ({ data }) => data as LookupPage["data"],
};

const {
  vector: _vector,
  dimension: _dimension,
  target: _target,
  ...asked
} = RetrieveInput.properties;

const SearchTarget = Type.Object({
  ...ProjectParams.properties,
  environment: Type.Optional(
    text("The environment to search. Default: that of a lookup, unless a release is given."),
  ),
  release: Type.Optional(text("The release to search, by name or id, instead of an environment.")),
});
const checkTarget = validator(SearchTarget);

/** The body of a retrieval with the environment or the release as its target. */
function retrieved(args: Readonly<Record<string, unknown>>): object {
  const { environment, release } = checkTarget(args);
  const { environment: _environment, release: _release, ...body } = args;
  if (environment === undefined && release === undefined) return body;
  if (environment === undefined) return { ...body, target: { release } };
  if (release === undefined) return { ...body, target: { environment } };
  const message = "must not be given together with environment";
  throw invalid([{ field: "release", message }]);
}

/** The file of a hit or of a group of hits. */
function fileOf(found: RetrievePage["data"][number]): NamedFile[] {
  if ("hits" in found) return [found.file];
  const path = found.chunk?.file_path ?? found.file?.path;
  return path === undefined ? [] : [{ path, ...(found.title ? { title: found.title } : {}) }];
}

const search: Tool = {
  name: "search",
  title: "Search by text",
  description:
    "Finds the passages of a project that answer a question best, by meaning and by words: ask with a " +
    "sentence or with keywords. Each result has the whole passage, a highlight, and the title and heading " +
    "that it is under. With `group_by` set to `file` the results are documents with their best passages. " +
    "`like` finds chunks that resemble a document or a passage, by its path or chunk id, without a question. " +
    "`page_info.next` of a result is the `cursor` of the next page.",
  input: Type.Object({ ...SearchTarget.properties, ...asked }),
  operationIds: ["retrieve"],
  callOf(args) {
    const { project_reference } = checkTarget(args);
    return {
      operationId: "retrieve",
      params: { project_reference },
      query: {},
      body: retrieved(args),
    };
  },
  filesOf: ({ data }) => (data as RetrievePage["data"]).flatMap(fileOf),
};

export const TOOLS: readonly Tool[] = [lookup, search, listProjects, listFiles, readFile];
