import { type Static, Type } from "@sinclair/typebox";
import {
  type ChangeCounts,
  type ChangePosition,
  type ChangeRow,
  readChanges,
} from "../content/compare.ts";
import { currentScope } from "../content/scopes/resolver.ts";
import { SCOPE_PROBLEMS, ScopeQuery, scopeNameOf } from "../content/scopes/scope-query.ts";
import { onlyPage, PageInfo } from "../domain/page-info.ts";
import { count, nullable, oneOf, ProjectParams, text, uuid } from "../domain/schemas.ts";
import { type Operation, operation } from "../http/operation.ts";
import { type ListServices, PageQuery, type ProjectListCall, readListing } from "../http/pages.ts";

const { environment, release } = ScopeQuery.properties;

const ComparisonQuery = Type.Object({
  base_environment: Type.Optional({
    ...environment,
    description:
      "The environment to compare with, by name, with the same default as `environment`.",
  }),
  base_release: Type.Optional({
    ...release,
    description: "The release to compare with, by name or id, instead of an environment.",
  }),
  environment,
  release,
  ...PageQuery.properties,
});
type ComparisonQuery = Static<typeof ComparisonQuery>;

const FileChange = Type.Object(
  {
    id: uuid("The file's id."),
    path: text("The path of the file."),
    title: text("The title of the version, of a removed file that of the base's version."),
    change: oneOf(
      ["added", "removed", "changed"],
      "`added` if the base lacks the file, `removed` if only the base has it, `changed` if the " +
        "versions differ.",
    ),
    base_version_id: nullable(
      uuid("A version."),
      "The version of the base; null for an added file.",
    ),
    version_id: nullable(
      uuid("A version."),
      "The version compared with it; null for a removed file.",
    ),
  },
  {
    title: "FileChange",
    description: "A file that two environments or releases have differently.",
  },
);
type FileChange = Static<typeof FileChange>;

const Comparison = Type.Object(
  {
    added: count("Files that the base lacks."),
    removed: count("Files that only the base has."),
    changed: count("Files of which both have different versions."),
    data: Type.Array(FileChange, { description: "These files in order of path." }),
    page_info: PageInfo,
  },
  { title: "Comparison", description: "The differences between two environments or releases." },
);
type Comparison = Static<typeof Comparison>;

const EXAMPLE: Comparison = {
  added: 0,
  removed: 0,
  changed: 1,
  data: [
    {
      change: "changed",
      path: "docs/install.md",
      id: "1f204c6b-8a5d-4e9f-8d7c-6b5ab7c3a9de",
      title: "Install",
      base_version_id: "a9de1f20-4c6b-4a5d-8e9f-8d7c6b5ab7c3",
      version_id: "c6b8a5d0-e9f8-4d7c-a5ab-7c3a9de1f204",
    },
  ],
  page_info: onlyPage("/projects/demo/compare?base_release=v1.4.0&environment=production"),
};

function changeOf(row: ChangeRow): FileChange {
  const isAdded = row.base_version_id === null;
  const change = isAdded ? "added" : row.version_id === null ? "removed" : "changed";
  return { change, ...row };
}

/**
 * Compares the files that two environments or releases of a project serve, and lists one page of the differences.
 * Throws `project-not-found`, that of a missing scope, and `invalid-cursor`.
 */
async function compareScopes(
  { sql, cursors }: ListServices,
  call: ProjectListCall & { readonly query: ComparisonQuery },
): Promise<Comparison> {
  const { principal, params, query } = call;
  const project = params.project_reference;
  const { base_environment, base_release, environment, release } = query;
  const baseQuery = {
    ...(base_environment !== undefined && { environment: base_environment }),
    ...(base_release !== undefined && { release: base_release }),
  };
  const [baseName, name] = [scopeNameOf(baseQuery, "base_"), scopeNameOf(query)];
  const base = await currentScope(sql, principal, { project, ...baseName });
  const scope = await currentScope(sql, principal, { project, ...name });
  let counts: ChangeCounts = { added: 0, removed: 0, changed: 0 };
  const page = await readListing(cursors, call, {
    binding: `comparison:${base.id}:${scope.id}`,
    parameters: { base_environment, base_release, environment, release },
    keyOf: ({ path }: ChangeRow): ChangePosition => [path],
    async read(range) {
      const { rows, ...counted } = await readChanges(sql, base, scope, range);
      counts = counted;
      return rows;
    },
    itemOf: changeOf,
  });
  return { ...counts, ...page };
}

/** GET /projects/{project_reference}/compare. */
export function compareOperation(services: ListServices): Operation {
  return operation({
    id: "compareScopes",
    method: "GET",
    path: "/projects/{project_reference}/compare",
    tag: "Files",
    summary: "Compare two environments or releases",
    description:
      "Counts and lists the files that differ between a base and another environment or release. An " +
      "environment with an active release is compared as that release.",
    extension: true,
    permission: "files.read",
    params: ProjectParams,
    query: ComparisonQuery,
    response: Comparison,
    responseExample: EXAMPLE,
    problems: [...SCOPE_PROBLEMS, "invalid-cursor"],
    handle: (call) => compareScopes(services, call),
  });
}
