import type { Principal } from "../../auth/principal.ts";
import { type ListServices, type PageRequest, readListing } from "../../http/pages.ts";
import { currentScope } from "../scopes/resolver.ts";
import { scopeNameOf } from "../scopes/scope-query.ts";
import { type ChangeCounts, type ChangePosition, type ChangeRow, readChanges } from "./queries.ts";
import type { Comparison, ComparisonQuery, FileChange } from "./schema.ts";

interface CompareCall {
  readonly principal: Principal;
  readonly reference: string;
  readonly query: ComparisonQuery;
  readonly page: PageRequest;
}

function changeOf(row: ChangeRow): FileChange {
  const isAdded = row.base_version_id === null;
  const change = isAdded ? "added" : row.version_id === null ? "removed" : "changed";
  return { change, ...row };
}

/**
 * Compares the files that two environments or releases of a project serve, and lists one page of the differences.
 * Throws `project-not-found`, that of a missing scope, and `invalid-cursor`.
 */
export async function compareScopes(
  { sql, cursors }: ListServices,
  { principal, reference: project, query, page }: CompareCall,
): Promise<Comparison> {
  const { base_environment, base_release, environment, release } = query;
  const baseQuery = {
    ...(base_environment !== undefined && { environment: base_environment }),
    ...(base_release !== undefined && { release: base_release }),
  };
  const [baseName, name] = [scopeNameOf(baseQuery, "base_"), scopeNameOf(query)];
  const base = await currentScope(sql, principal, { project, ...baseName });
  const scope = await currentScope(sql, principal, { project, ...name });
  let counts: ChangeCounts = { added: 0, removed: 0, changed: 0 };
  const { rows, pageInfo } = await readListing<ChangeRow, ChangePosition>(cursors, page, {
    binding: `comparison:${base.id}:${scope.id}`,
    parameters: { base_environment, base_release, environment, release },
    keyOf: ({ path }) => [path],
    async read(range) {
      const { rows, ...counted } = await readChanges(sql, base, scope, range);
      counts = counted;
      return rows;
    },
  });
  return { ...counts, data: rows.map(changeOf), page_info: pageInfo };
}
