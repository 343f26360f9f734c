import pLimit from "p-limit";
import { type FieldSummary, summariseFields } from "../fields/field-summary.ts";
import { evaluateInTurns } from "./filter-turns.ts";
import type { IndexingContext } from "./indexing-context.ts";

/** One summary at a time takes turns with the filters, so that many of them delay no search for long. */
const summaries = pLimit(1);

/** What the files of a scope have in each field; null if the scope is not in memory. */
export async function scopeFields(
  { fields, filterTurns }: Pick<IndexingContext, "fields" | "filterTurns">,
  projectId: string,
  scopeId: string,
): Promise<FieldSummary[] | null> {
  return await summaries(async () => {
    for (;;) {
      const project = fields.find(projectId);
      const scope = project?.scopes.get(scopeId);
      if (project === undefined || scope === undefined) return null;
      const { numbering } = project;
      const isValid = () => project.numbering === numbering;
      const found = await evaluateInTurns(filterTurns, summariseFields(project, scope), isValid);
      if (found !== undefined && isValid()) return found;
    }
  });
}
