import type { CompiledFilter } from "../../shared/filter/compile.ts";
import type { Steps } from "../../shared/filter/steps.ts";
import { addDocument, nextDocument } from "../../text/index.ts";
import type { Members, NumberSet } from "../versions/version-index.ts";
import { Evaluation } from "./evaluation.ts";
import type { FieldProject } from "./field-project.ts";
import { combined, numbersIn } from "./number-set.ts";

/** File versions that are evaluated together. An evaluation that ended early resumes with the block where it ended. */
const BLOCK_VERSIONS = 512;
const ALL_BITS = 0xffff_ffff;

/** Adds the numbers from `base` for which a mask has 1. */
function addMask(set: NumberSet, base: number, mask: Uint8Array): void {
  for (let i = mask.indexOf(1); i >= 0; i = mask.indexOf(1, i + 1)) addDocument(set, base + i);
}

/** A set with room for more numbers. */
function withRoom(set: NumberSet, count: number): NumberSet {
  if (set.length * 32 >= count) return set;
  const grown = new Uint32Array(Math.max((count + 31) >>> 5, set.length * 2));
  grown.set(set);
  return grown;
}

/**
 * The file versions of a project that match a filter. Versions never change, so after a change of a scope only its new
 * versions are evaluated.
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
  *evaluate(scope: NumberSet): Steps<void> {
    this.#makeRoom();
    const { project } = this;
    const { condition, usesMetadata } = this.filter;
    const evaluation = new Evaluation(project, condition, usesMetadata);
    const open = combined(scope, this.#known, "without");
    const end = Math.min(project.count, scope.length * 32);
    for (let first = 0; first < end; first += BLOCK_VERSIONS) {
      const last = Math.min(end, first + BLOCK_VERSIONS);
      const wanted = this.#wanted(open, first, last);
      if (wanted === null) continue;
      const found = yield* evaluation.matches(first, last, wanted);
      // Versions may have got other numbers while others had their turn.
      if (this.#numbering !== project.numbering) return;
      addMask(this.#matched, usesMetadata ? project.firstChunk(first) : first, found);
      for (let word = first >>> 5; word < (last + 31) >>> 5; word++) {
        this.#known[word] = (this.#known[word] as number) | (open[word] as number);
      }
    }
  }

  /** The matches in a scope whose versions have all been evaluated; undefined if one has not. */
  membersIn(scope: NumberSet): Members | undefined {
    const { project } = this;
    if (this.#numbering !== project.numbering) return undefined;
    if (combined(scope, this.#known, "without").some((bits) => bits !== 0)) return undefined;
    const matched = this.#matched;
    if (!this.filter.usesMetadata) {
      return {
        versions: project,
        numbers: numbersIn(combined(scope, matched, "and")),
        chunks: null,
      };
    }
    const { firstChunks } = project;
    const numbers = numbersIn(scope).filter((number) => {
      const end = firstChunks[number + 1] as number;
      return nextDocument(matched, firstChunks[number] as number, end) < end;
    });
    return { versions: project, numbers, chunks: matched };
  }

  /** 1 for each version of a block, or each of its chunks, to evaluate; null if none needs evaluation. */
  #wanted(open: NumberSet, first: number, end: number): Uint8Array | null {
    const words = open.subarray(first >>> 5, (end + 31) >>> 5);
    if (words.every((bits) => bits === 0)) return null;
    if (!this.filter.usesMetadata) {
      const wanted = new Uint8Array(end - first);
      if (words.every((bits) => bits === ALL_BITS)) return wanted.fill(1);
      for (const number of numbersIn(words)) wanted[number] = 1;
      return wanted;
    }
    const { firstChunks } = this.project;
    const base = firstChunks[first] as number;
    const wanted = new Uint8Array((firstChunks[end] as number) - base);
    for (const number of numbersIn(words)) {
      const chunk = firstChunks[first + number] as number;
      wanted.fill(1, chunk - base, (firstChunks[first + number + 1] as number) - base);
    }
    return wanted;
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
