/** The public API of the text search core, which does no I/O and does not depend on the service. */
export { ENGLISH, type KnowledgeDocument, stem } from "../../../native/text.ts";
export { tokenize, wordTables } from "../../../native/words.ts";
export {
  addDocument,
  countDocuments,
  type DocumentSet,
  emptyDocumentSet,
  hasDocument,
  nextDocument,
} from "./document-set.ts";
export { SegmentReader } from "./reader.ts";
export type { Shard } from "./shard.ts";
export {
  newView,
  type SegmentScope,
  type SharedSegment,
  type SharedView,
  type TextMessage,
  ViewStore,
} from "./views.ts";
export { buildSegment, type MergedSegment, mergeSegments } from "./writer.ts";
