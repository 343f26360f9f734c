import type { OpenSegment } from "./segment.ts";
import type { Scope } from "./types.ts";

/** An environment or release at one instant: segments and, for each, the documents in scope. */
export interface View {
  segments: readonly OpenSegment[];
  /** Same length and order as `segments`. */
  scopes: readonly Scope[];
}
