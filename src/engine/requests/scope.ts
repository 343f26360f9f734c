export type ScopeKind = "environment" | "release";

/** Names a scope inside its project. */
export interface ScopeRef {
  readonly id: string;
  readonly kind: ScopeKind;
}

/** What searches and lookups cover: an environment's working set, or a release. */
export interface Scope extends ScopeRef {
  /** The user for whom it was resolved, who pays for what is done with it. */
  readonly tenant: string;
  readonly projectId: string;
  /** True when its contents will never change. */
  readonly frozen: boolean;
}
