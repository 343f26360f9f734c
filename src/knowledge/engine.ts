import type { LookupResult, LookupTask } from "../../workers/protocol.ts";

/** The scope that a lookup looks in, found for a caller who may. */
export interface LookupScope {
  readonly projectId: string;
  readonly id: string;
  readonly kind: "environment" | "release";
}

/** A lookup without its view, which the engine knows. */
export type LookupRequest = Omit<LookupTask, "view">;

/** Whatever holds the text and searches it; the routes know nothing else. */
export interface KnowledgeEngine {
  /** Throws `overloaded`, or `dependency-unavailable` while the project is still being loaded. */
  lookup(scope: LookupScope, request: LookupRequest): Promise<LookupResult>;
}
