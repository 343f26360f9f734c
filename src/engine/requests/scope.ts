import { Problem } from "../../problem/problem.ts";

export type ScopeKind = "environment" | "release";

/** Names a scope inside its project. */
export interface ScopeRef {
  readonly id: string;
  readonly kind: ScopeKind;
}

/** What searches and lookups cover: an environment's working set, or a release. */
export interface Scope extends ScopeRef {
  /** The user for whom it was resolved. */
  readonly tenant: string;
  readonly projectId: string;
  /** True when its contents will never change. */
  readonly frozen: boolean;
}

/** The project exists, and the environment or release does not. */
export class ScopeNotFound extends Problem {
  constructor(
    readonly projectId: string,
    kind: ScopeKind,
  ) {
    super(kind === "environment" ? "environment-not-found" : "release-not-found");
  }
}
