import { Fields } from "../content/fields.ts";
import type { ScopeResolver } from "../content/scopes/resolver.ts";
import { SCOPE_PROBLEMS, ScopeQuery, scopeNameOf } from "../content/scopes/scope-query.ts";
import { ProjectParams } from "../domain/schemas.ts";
import type { Engine } from "../engine/engine.ts";
import { type Operation, operation } from "../http/operation.ts";

const EXAMPLE: Fields = {
  fields: [
    {
      name: "path",
      types: ["string"],
      files: 2,
      distinct: 2,
      values: [
        { value: "docs/install.md", count: 1 },
        { value: "index.md", count: 1 },
      ],
    },
    {
      name: "frontmatter.status",
      types: ["string"],
      files: 2,
      distinct: 1,
      values: [{ value: "published", count: 2 }],
    },
  ],
};

/** GET /projects/{project_reference}/fields. */
export function fieldsOperation({
  engine,
  scopes,
}: {
  readonly engine: Engine;
  readonly scopes: ScopeResolver;
}): Operation {
  return operation({
    id: "listFields",
    method: "GET",
    path: "/projects/{project_reference}/fields",
    tag: "Search",
    summary: "List the fields that filters can compare",
    description:
      "The values that the files of an environment or a release have in their paths, their frontmatter and the " +
      "metadata of their chunks, with the most frequent values. A file counts once per value, however " +
      "often it has it. Fields without values, fields beyond the first 1,024 of a project, and values " +
      "beyond the first 256 of a file or chunk are left out.",
    extension: true,
    permission: "search.query",
    reads: "texts",
    params: ProjectParams,
    query: ScopeQuery,
    response: Fields,
    responseExample: EXAMPLE,
    problems: SCOPE_PROBLEMS,
    async handle({ principal, params, query, readYourWrites }) {
      const project = params.project_reference;
      const scope = await scopes.resolve(
        principal,
        { project, ...scopeNameOf(query) },
        readYourWrites,
      );
      return { fields: await engine.fields(scope) };
    },
  });
}
