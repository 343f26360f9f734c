import type { LookupResult, LookupTask } from "../../workers/protocol.ts";
import type { Scope } from "../scopes/scope.ts";

/** A lookup without its view, which the engine adds. */
export type LookupRequest = Omit<LookupTask, "view">;

/** Searches the text of projects. The routes depend on this interface only. */
export interface KnowledgeEngine {
  /** Looks up for a tenant, who shares the threads with others. Throws `overloaded`, or `dependency-unavailable` while the project is loading. */
  lookup(tenant: string, scope: Scope, request: LookupRequest): Promise<LookupResult>;
}
