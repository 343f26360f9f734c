import { evaluateInTurns } from "../../shared/filter/turns.ts";
import { countFacet, type Facet, knownVersions } from "../fields/facets.ts";
import type { Members } from "../versions/version-index.ts";
import type { IndexingContext } from "./indexing-context.ts";

/** The file versions and the fields of which values are counted. */
export interface WantedFacets {
  readonly projectId: string;
  /** In which the versions were found. */
  readonly scopeId: string;
  /** Separated by commas. */
  readonly versionIds: string;
  /** As filters name fields. */
  readonly names: readonly string[];
  /** Whether these are all versions that match. */
  readonly areAll: boolean;
}

/** Knows what derived scopes hold. */
interface Derived {
  membersOf(projectId: string, scopeId: string): Members | undefined;
}

/**
 * How many files have each value of some fields, as JSON, because no thread can post numbers as they are written;
 * null if the project is not in memory.
 */
export async function matchFacets(
  { fields, filterTurns }: Pick<IndexingContext, "fields" | "filterTurns">,
  { projectId, scopeId, versionIds, names, areAll }: WantedFacets,
  derived: Derived,
): Promise<string | null> {
  const ids = versionIds === "" ? [] : versionIds.split(",");
  for (;;) {
    const project = fields.find(projectId);
    if (project === undefined) return null;
    const { numbering } = project;
    const isNeeded = () => project.numbering === numbering;
    const chunks = derived.membersOf(projectId, scopeId)?.chunks ?? null;
    const matches = { versions: knownVersions(project, ids), chunks, areAll };
    const found: Record<string, Facet> = {};
    for (const name of names) {
      const facet = await evaluateInTurns(filterTurns, countFacet(project, name, matches), {
        isNeeded,
      });
      if (facet !== undefined) found[name] = facet;
    }
    // Versions may have got other numbers meanwhile.
    if (isNeeded()) return JSON.stringify(found);
  }
}
