import { type Static, Type } from "@sinclair/typebox";
import { invalid } from "../../problem/problem.ts";
import { validator } from "../../problem/validate.ts";
import { ProjectParams } from "../../shared/schemas.ts";
import { LookupBody } from "../lookup/schema.ts";
import {
  EnvironmentSearchParams,
  ReleaseSearchParams,
  SearchBody,
  SearchQueryParameters,
} from "../search/schema.ts";
import { listFiles, listProjects, readFile } from "./file-tools.ts";
import type { OperationCall, Tool } from "./tool.ts";

const DEFAULT_ENVIRONMENT = "production";

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
};

const SearchTarget = Type.Object({
  ...ProjectParams.properties,
  environment: Type.Optional({
    ...EnvironmentSearchParams.properties.environmentName,
    description: `The environment to search. Default: \`${DEFAULT_ENVIRONMENT}\`, unless a release is given.`,
  }),
  release: Type.Optional({
    ...ReleaseSearchParams.properties.version,
    description: "The release to search, by name or id, instead of an environment.",
  }),
});
const checkTarget = validator(SearchTarget);

const { effort } = SearchQueryParameters.properties;

/** The operation and its parameters for a search of an environment or a release. */
function searched({
  project_reference,
  environment,
  release,
}: Static<typeof SearchTarget>): Pick<OperationCall, "operationId" | "params"> {
  if (release === undefined) {
    const environmentName = environment ?? DEFAULT_ENVIRONMENT;
    return { operationId: "searchEnvironment", params: { project_reference, environmentName } };
  }
  if (environment === undefined) {
    return { operationId: "searchRelease", params: { project_reference, version: release } };
  }
  const message = "must not be given together with environment";
  throw invalid([{ field: "release", message }]);
}

const search: Tool = {
  name: "search",
  title: "Search by vector",
  description:
    "Finds the passages of a project whose embeddings are nearest to a query embedding, which must " +
    "come from the model that embedded the project. To search by text, use `lookup`.",
  input: Type.Object({ ...SearchTarget.properties, ...SearchBody.properties, effort }),
  operationIds: ["searchEnvironment", "searchRelease"],
  callOf(args) {
    const { effort: given, ...body } = args;
    const target = checkTarget(args);
    // The operation checks the value, as it checks the body.
    const query: Record<string, string> = given == null ? {} : { effort: String(given) };
    return { ...searched(target), query, body };
  },
};

export const TOOLS: readonly Tool[] = [lookup, search, listProjects, listFiles, readFile];
