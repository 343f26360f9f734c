/** What a retrieval answers, by exhaustive comparison and simple code. */

import { cosineOf } from "../../../support/api/versions.ts";
import { planByReference, type QueryPlan } from "../lookup-reference/plan.ts";
import type { Vocabulary } from "../lookup-reference/plan-word.ts";
import { rankByReference } from "../lookup-reference/ranking.ts";
import { coverageByReference, markedWords, mergedMarks } from "../lookup-reference/snippet.ts";
import { CHUNKS, FILES, type FusedItem, fuseByReference, wordsScoreOf } from "./fuse.ts";

export interface ReferenceChunk {
  readonly id: string;
  readonly content: string;
  /** Null without one of the query's dimension. */
  readonly vector: Float32Array | null;
}

export interface ReferenceFile {
  readonly path: string;
  readonly chunks: readonly ReferenceChunk[];
}

export interface ReferenceHit {
  /** The chunk's id, or the path of a file without chunks. */
  readonly key: string;
  readonly score: number;
  readonly keyword: number | null;
  readonly semantic: number | null;
}

/** Candidates are at least so many, and grow in steps until there are enough. */
function depthOf(least: number, wanted: number): number {
  return least >= wanted ? least : depthOf(2 * least, wanted);
}

export interface ReferenceQuery {
  readonly mode: "semantic" | "keyword" | "hybrid";
  readonly query: string;
  readonly vector: Float32Array;
  readonly threshold: number;
  /** Hits that are asked for. */
  readonly limit: number;
}

interface Candidate extends FusedItem {
  readonly file: ReferenceFile;
  /** That which the vector has found; null for a file. */
  readonly chunk: ReferenceChunk | null;
}

const WHOLE = { shardIndex: 0, shardCount: 1 };

/** The chunk of a file with the best passage; the first of equal ones. */
function bestPassage(file: ReferenceFile, vocabulary: Vocabulary, plan: QueryPlan) {
  const { segments } = vocabulary.view;
  const marked = mergedMarks(segments.map((segment, s) => markedWords(segment, s, plan)));
  let [best, most] = [file.chunks[0], 0];
  for (const chunk of file.chunks) {
    const covered = coverageByReference(chunk.content, marked, plan);
    if (covered > most + 1e-9) [best, most] = [chunk, covered];
  }
  return best;
}

/** All hits that a first page can have, best first. */
export function retrieveByReference(
  vocabulary: Vocabulary,
  files: readonly ReferenceFile[],
  { mode, query, vector, threshold, limit }: ReferenceQuery,
): ReferenceHit[] {
  const plan = planByReference(vocabulary, query, false);
  const ranked = mode === "semantic" ? [] : rankByReference(vocabulary.view, plan, WHOLE);
  const byPath = new Map(files.map((file) => [file.path, file]));
  const cosine = (chunk: ReferenceChunk) => cosineOf(chunk.vector as Float32Array, vector);
  const found = ranked.slice(0, depthOf(FILES, limit + 1)).map(({ path, score }, i): Candidate => {
    const file = byPath.get(path) as ReferenceFile;
    const similar = file.chunks
      .filter((chunk) => chunk.vector !== null)
      .toSorted((a, b) => cosine(b) - cosine(a))[0];
    const own = { vector: similar?.vector ?? null, cosine: similar ? cosine(similar) : 0 };
    return { file, chunk: null, keyword: score, counts: i < FILES, ...own };
  });
  const counted = new Set(found.filter(({ counts }) => counts).map(({ file }) => file));
  const near = files
    .flatMap((file) => file.chunks.map((chunk) => ({ file, chunk })))
    .filter(({ chunk }) => chunk.vector !== null && cosine(chunk) >= threshold)
    .toSorted((a, b) => cosine(b.chunk) - cosine(a.chunk))
    .slice(0, depthOf(CHUNKS, limit + 1))
    .map(({ file, chunk }, i): Candidate => {
      const own = { vector: chunk.vector, cosine: cosine(chunk) };
      return { file, chunk, keyword: 0, counts: i < CHUNKS && !counted.has(file), ...own };
    });
  const candidates = mode === "keyword" ? found : [...found, ...near];
  const fused = fuseByReference(candidates, plan);
  const scoresOf = ({ chunk, keyword }: Candidate, i: number) => {
    if (mode === "hybrid") return fused[i] as { rank: number; score: number };
    const whole = plan.maxScore + plan.missingScore;
    const score = chunk === null ? wordsScoreOf(keyword / whole) : cosine(chunk);
    return { rank: score, score };
  };
  const hits = candidates.map((candidate, i): ReferenceHit & { readonly rank: number } => {
    const { file, chunk, keyword } = candidate;
    const { rank, score } = scoresOf(candidate, i);
    const scores = { rank, score };
    if (chunk !== null) return { ...scores, key: chunk.id, keyword: null, semantic: cosine(chunk) };
    const best = bestPassage(file, vocabulary, plan);
    const hasVector = mode === "hybrid" && best !== undefined && best.vector !== null;
    const own = hasVector && cosine(best) >= threshold ? cosine(best) : null;
    return { ...scores, key: best?.id ?? file.path, keyword, semantic: own };
  });
  const inOrder = hits.toSorted((a, b) => b.rank - a.rank);
  // What is ranked above others is as good as they are.
  const sorted = inOrder.map(({ rank: _, ...hit }, i) => ({
    ...hit,
    score: Math.max(...inOrder.slice(i).map(({ score }) => score)),
  }));
  return sorted.filter(({ key }, i) => sorted.findIndex((hit) => hit.key === key) === i);
}
