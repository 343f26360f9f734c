import { beginFilter, filterMembers, openFilter, stepFilter } from "../../../native/fields.ts";
import type { Steps } from "../../domain/steps.ts";
import { emptyDocumentSet } from "../segments/index.ts";
import type { NumberSet } from "../versions/number-set.ts";
import type { Members } from "../versions/version-index.ts";
import type { FieldProject } from "./field-project.ts";

const ALL_BITS = 0xffff_ffff;

/**
 * The file versions of a project that match a filter. Versions never change, so after a change of a scope only its new
 * versions are evaluated.
 */
export class FilterResults {
  #results: ReturnType<typeof openFilter>;
  /** The fields that the results are of. */
  #store: FieldProject["store"];

  /** @param filter canonical JSON text, in which `checkFilter` has found no fault */
  constructor(
    private readonly project: FieldProject,
    private readonly filter: string,
  ) {
    this.#store = project.store;
    this.#results = openFilter(this.#store, filter);
  }

  /**
   * Evaluates the versions of a scope that have not been evaluated; yields after every short step. Without effect if
   * versions get other numbers while others have their turn.
   */
  *evaluate(scope: NumberSet): Steps<void> {
    const { store } = this.project;
    if (this.#store !== store) {
      this.#store = store;
      this.#results = openFilter(store, this.filter);
    }
    const results = this.#results;
    beginFilter(results, scope);
    while (!stepFilter(results)) yield;
  }

  /** The matches in a scope whose versions have all been evaluated; undefined if one has not. */
  membersIn(scope: NumberSet): Members | undefined {
    if (this.#store !== this.project.store) return undefined;
    return filterMembers(this.#results, scope) ?? undefined;
  }
}

/** All file versions that match a filter, with their chunks. Yields after every short step. */
export function* allMatches(project: FieldProject, filter: string): Steps<Members> {
  const results = new FilterResults(project, filter);
  const all = emptyDocumentSet(project.table.count).fill(ALL_BITS);
  yield* results.evaluate(all);
  return results.membersIn(all) as Members;
}
