import { summariseFields } from "../fields/field-summary.ts";
import type { IndexingContext } from "./indexing-context.ts";

/** The scope whose fields a user asks for. */
export interface WantedFields {
  readonly projectId: string;
  readonly tenant: string;
  readonly scopeId: string;
}

/**
 * The summaries of the fields of a scope's files, as JSON, because threads cannot post numbers as they are written.
 * Null if the scope is not in memory, "late" if other work of the user takes too long.
 */
export async function scopeFields(
  { fields, fieldWork }: Pick<IndexingContext, "fields" | "fieldWork">,
  { projectId, tenant, scopeId }: WantedFields,
): Promise<string | null> {
  return await fieldWork.inTurn(tenant, async (evaluate) => {
    for (;;) {
      const project = fields.find(projectId);
      const scope = project?.table.scopes.get(scopeId);
      if (project === undefined || scope === undefined) return null;
      const { store } = project;
      const isNeeded = () => project.store === store;
      const summary = summariseFields(project, scope);
      const found = await evaluate(summary, { isNeeded });
      if (found !== undefined && isNeeded()) return JSON.stringify(found);
    }
  });
}
