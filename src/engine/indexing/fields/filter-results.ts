import type { CompiledFilter } from "../../../shared/filter/compile.ts";
import { Numbers } from "../../../shared/numbers.ts";
import { addDocument, hasDocument } from "../../text/index.ts";
import type { DerivedMembers, NumberSet } from "../versions/version-index.ts";
import { Evaluation } from "./evaluation.ts";
import type { FieldProject } from "./field-project.ts";

/** File versions that are evaluated together. */
const BLOCK_VERSIONS = 4_096;

/** A set with room for more numbers. */
function withRoom(set: NumberSet, count: number): NumberSet {
  if (set.length * 32 >= count) return set;
  const grown = new Uint32Array(Math.max((count + 31) >>> 5, set.length * 2));
  grown.set(set);
  return grown;
}

/**
 * What a filter matches of a project's file versions. Versions never change, so after a change of a
 * scope only those that are new to it are evaluated.
 */
export class FilterResults {
  /** Versions that have been evaluated. */
  #known: NumberSet = new Uint32Array(0);
  /** Versions that match, or chunks if the filter names metadata. */
  #matched: NumberSet = new Uint32Array(0);
  #numbering: number;

  constructor(
    private readonly project: FieldProject,
    private readonly filter: CompiledFilter,
  ) {
    this.#numbering = project.numbering;
  }

  /** Evaluates the versions of a scope that have not been evaluated; yields after every short step. */
  *evaluate(scope: NumberSet): Generator<void> {
    this.#makeRoom();
    const { project } = this;
    const { condition, usesMetadata } = this.filter;
    const evaluation = new Evaluation(project, condition, usesMetadata);
    const end = Math.min(project.count, scope.length * 32);
    for (let first = 0; first < end; first += BLOCK_VERSIONS) {
      const last = Math.min(end, first + BLOCK_VERSIONS);
      const wanted = this.#wanted(scope, first, last);
      if (wanted === null) continue;
      const found = yield* evaluation.matches(first, last, wanted);
      // Versions may have got other numbers while others had their turn.
      if (this.#numbering !== project.numbering) return;
      const base = usesMetadata ? project.firstChunk(first) : first;
      for (let i = 0; i < found.length; i++)
        if (found[i] === 1) addDocument(this.#matched, base + i);
      for (let word = first >>> 5; word < (last + 31) >>> 5; word++) {
        this.#known[word] = (this.#known[word] as number) | (scope[word] as number);
      }
    }
  }

  /** The matches in a scope whose versions have all been evaluated; undefined if one has not. */
  membersIn(scope: NumberSet): DerivedMembers | undefined {
    const { project } = this;
    if (this.#numbering !== project.numbering) return undefined;
    for (const [word, bits] of scope.entries()) {
      if ((bits & ~(this.#known[word] ?? 0)) !== 0) return undefined;
    }
    const byChunk = this.filter.usesMetadata;
    const numbers = new Numbers();
    for (const [word, bits] of scope.entries()) {
      let left = byChunk ? bits : bits & (this.#matched[word] ?? 0);
      for (; left !== 0; left &= left - 1) {
        const number = word * 32 + (31 - Math.clz32(left & -left));
        if (!byChunk || this.#hasMatch(number)) numbers.push(number);
      }
    }
    const chunks = byChunk ? this.#matched : null;
    return { versions: project, numbers: numbers.values, chunks };
  }

  #hasMatch(number: number): boolean {
    const end = this.project.firstChunk(number + 1);
    for (let chunk = this.project.firstChunk(number); chunk < end; chunk++) {
      if (hasDocument(this.#matched, chunk)) return true;
    }
    return false;
  }

  /** 1 for each version of a block, or each of its chunks, that is to be evaluated; null without any. */
  #wanted(scope: NumberSet, first: number, end: number): Uint8Array | null {
    const { project } = this;
    const byChunk = this.filter.usesMetadata;
    const base = byChunk ? project.firstChunk(first) : first;
    const wanted = new Uint8Array(byChunk ? project.firstChunk(end) - base : end - first);
    let isNeeded = false;
    for (let number = first; number < end; number++) {
      if (!hasDocument(scope, number) || hasDocument(this.#known, number)) continue;
      isNeeded = true;
      if (!byChunk) wanted[number - base] = 1;
      else wanted.fill(1, project.firstChunk(number) - base, project.firstChunk(number + 1) - base);
    }
    return isNeeded ? wanted : null;
  }

  #makeRoom(): void {
    const { numbering, count } = this.project;
    if (this.#numbering !== numbering) {
      this.#numbering = numbering;
      this.#known = this.#matched = new Uint32Array(0);
    }
    this.#known = withRoom(this.#known, count);
    const matchable = this.filter.usesMetadata ? this.project.firstChunk(count) : count;
    this.#matched = withRoom(this.#matched, matchable);
  }
}
