import { TEXT_MERGE_MAX_DOCUMENTS } from "../../domain/limits.ts";

/** Anything with a segment's size. */
export interface Sized {
  readonly segment: { readonly documentCount: number };
}

/**
 * The smallest segments of about the same size that are worth merging: each is at most `ratio`
 * times as large as all smaller ones of them together, so that a large segment is not rewritten
 * for a small one. Empty when fewer than `count` qualify.
 */
export function segmentsOfLikeSize<S extends Sized>(
  all: readonly S[],
  { count, ratio }: { readonly count: number; readonly ratio: number },
): S[] {
  const sorted = all.toSorted((a, b) => a.segment.documentCount - b.segment.documentCount);
  let chosen: S[] = [];
  let documents = 0;
  for (const candidate of sorted) {
    const more = candidate.segment.documentCount;
    const fits = documents + more <= TEXT_MERGE_MAX_DOCUMENTS;
    if (chosen.length > 0 && (more > documents * ratio || !fits)) {
      if (chosen.length >= count) return chosen;
      chosen = [];
      documents = 0;
    }
    chosen.push(candidate);
    documents += more;
  }
  return chosen.length >= count ? chosen : [];
}
