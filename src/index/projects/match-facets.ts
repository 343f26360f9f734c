import { countFacets } from "../fields/facets.ts";
import type { Members } from "../versions/version-index.ts";
import type { IndexingContext } from "./indexing-context.ts";
import type { WantedFields } from "./scope-fields.ts";

/** Time budget for counting per request. */
const FACETS_WORK_MAX_MS = 1_000;

/** The file versions that were found in a scope, and the fields of which values are counted. */
export interface WantedFacets extends WantedFields {
  /** Separated by commas. */
  readonly versionIds: string;
  /** As filters name fields. */
  readonly names: readonly string[];
  /** Whether these are all versions that match. */
  readonly areAll: boolean;
}

/** Gives the members of derived scopes. */
interface Derived {
  membersOf(projectId: string, scopeId: string): Members | undefined;
}

/**
 * How many files have each value of some fields, as JSON, because no thread can post numbers as they are written;
 * null if the project is not in memory, "late" if the values were not counted in time.
 */
export async function matchFacets(
  { fields, fieldWork }: Pick<IndexingContext, "fields" | "fieldWork">,
  { projectId, tenant, scopeId, versionIds, names, areAll }: WantedFacets,
  derived: Derived,
): Promise<string | null> {
  return await fieldWork.inTurn(tenant, async (evaluate) => {
    const ids = versionIds === "" ? [] : versionIds.split(",");
    for (;;) {
      const project = fields.find(projectId);
      if (project === undefined) return null;
      const { store } = project;
      const isNeeded = () => project.store === store;
      const chunks = derived.membersOf(projectId, scopeId)?.chunks ?? null;
      const counting = countFacets(project, names, { ids, chunks, areAll });
      const options = { isNeeded, budgetMs: FACETS_WORK_MAX_MS };
      const found = await evaluate(counting, options);
      // Versions may have got other numbers meanwhile.
      if (isNeeded()) return found === undefined ? "late" : JSON.stringify(found);
    }
  });
}
