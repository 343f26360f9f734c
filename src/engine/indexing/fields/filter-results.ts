import type { CompiledFilter } from "../../../shared/filter/compile.ts";
import type { ChunkMembers, DerivedMembers } from "../versions/version-index.ts";
import type { FieldProject, NumberSet } from "./field-project.ts";
import { evaluate } from "./version-fields.ts";

const STATES = { unknown: 0, none: 1, all: 2, some: 3 } as const;

/**
 * What a filter matches of a project's file versions. Versions never change, so after a change of a
 * scope only those that are new to it are evaluated.
 */
export class FilterResults {
  #states = new Uint8Array(0);
  readonly #chunks = new Map<number, Uint8Array>();
  #numbering: number;

  constructor(
    private readonly project: FieldProject,
    private readonly filter: CompiledFilter,
  ) {
    this.#numbering = project.numbering;
  }

  /** Evaluates the versions of a scope one by one, those that have not been; yields before each. */
  *evaluate(scope: NumberSet): Generator<void> {
    this.#makeRoom();
    for (const number of this.project.numbersIn(scope)) {
      if (this.#states[number] !== STATES.unknown) continue;
      yield;
      // Versions may have got other numbers, or become more, while others had their turn.
      if (this.#numbering !== this.project.numbering) return;
      const matched = evaluate(this.filter, this.project.version(number));
      if (typeof matched !== "string") this.#chunks.set(number, matched);
      this.#states[number] = typeof matched === "string" ? STATES[matched] : STATES.some;
    }
  }

  /** The matches in a scope whose versions have all been evaluated; undefined if one has not. */
  membersIn(scope: NumberSet): DerivedMembers | undefined {
    if (this.#numbering !== this.project.numbering) return undefined;
    const versionIds: string[] = [];
    const chunks = new Map<string, ChunkMembers>();
    for (const number of this.project.numbersIn(scope)) {
      const state = this.#states[number] ?? STATES.unknown;
      if (state === STATES.unknown) return undefined;
      if (state === STATES.none) continue;
      const { id, dimensions } = this.project.version(number);
      versionIds.push(id);
      const members = this.#chunks.get(number);
      if (members !== undefined) chunks.set(id, { dimensions, members });
    }
    return { versionIds, chunks };
  }

  #makeRoom(): void {
    const { numbering, count } = this.project;
    if (this.#numbering !== numbering) {
      this.#numbering = numbering;
      this.#states = new Uint8Array(count);
      this.#chunks.clear();
    } else if (this.#states.length < count) {
      const grown = new Uint8Array(count);
      grown.set(this.#states);
      this.#states = grown;
    }
  }
}
