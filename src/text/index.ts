/** The public face of the text search core. */
export { addToScope, emptyScope, inScope, nextInScope, scopeSize } from "./bitset.ts";
export { browse, countItems } from "./browse.ts";
export { buildSegment } from "./build.ts";
export { type MergePart, mergeInSteps, mergeSegments } from "./merge.ts";
export { explain, rankAll, search } from "./search.ts";
export { OpenSegment, openSegment, SegmentFault } from "./segment.ts";
export { pathHash } from "./shard.ts";
export type * from "./types.ts";
export type { View } from "./view.ts";
