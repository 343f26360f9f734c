import pLimit from "p-limit";
import { evaluateInTurns } from "../../shared/filter/turns.ts";
import { summariseFields } from "../fields/field-summary.ts";
import type { IndexingContext } from "./indexing-context.ts";

/** One summary at a time takes turns with the filters, so that many of them delay no search for long. */
const summaries = pLimit(1);

/**
 * What the files of a scope have in each field, as the JSON of summaries, because no thread can post numbers as
 * they are written; null if the scope is not in memory.
 */
export async function scopeFields(
  { fields, filterTurns }: Pick<IndexingContext, "fields" | "filterTurns">,
  projectId: string,
  scopeId: string,
): Promise<string | null> {
  return await summaries(async () => {
    for (;;) {
      const project = fields.find(projectId);
      const scope = project?.scopes.get(scopeId);
      if (project === undefined || scope === undefined) return null;
      const { numbering } = project;
      const isNeeded = () => project.numbering === numbering;
      const summary = summariseFields(project, scope);
      const found = await evaluateInTurns(filterTurns, summary, { isNeeded });
      if (found !== undefined && isNeeded()) return JSON.stringify(found);
    }
  });
}
