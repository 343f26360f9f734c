import type { LookupResult } from "../../../workers/protocol.ts";
import type { LookupQuery } from "../text/index.ts";
import type { Scope } from "./scope.ts";

/** Searches the text of projects. The routes depend on this interface only. */
export interface KnowledgeEngine {
  /** Looks up for a tenant, who shares the threads with others. Throws `overloaded`, or `dependency-unavailable` while the project is loading. */
  lookup(tenant: string, scope: Scope, query: LookupQuery): Promise<LookupResult>;
}
