import type { LookupResult, LookupTask } from "../../workers/protocol.ts";
import type { Scope } from "../scopes/scope.ts";

/** A lookup without its view, which the engine knows. */
export type LookupRequest = Omit<LookupTask, "view">;

/** Whatever holds the text and searches it; the routes know nothing else. */
export interface KnowledgeEngine {
  /** Throws `overloaded`, or `dependency-unavailable` while the project is still being loaded. */
  lookup(scope: Scope, request: LookupRequest): Promise<LookupResult>;
}
