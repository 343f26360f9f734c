export type ScopeKind = "environment" | "release";

/** A part of a scope: the files and chunks that its filter matches. */
interface ScopeFilter {
  /** The id of the scope that is filtered. */
  readonly base: string;
  /** The filter as canonical JSON text, in which no fault was found. */
  readonly json: string;
}

/** Names a scope inside its project. */
export interface ScopeRef {
  /** That of a derived scope is the id of its base, `#`, and a hash of the filter. */
  readonly id: string;
  readonly kind: ScopeKind;
  /** Present in a derived scope. */
  readonly filter?: ScopeFilter;
}

/** The scope of searches and lookups: an environment's working set, a release, or a part of one. */
export interface Scope extends ScopeRef {
  /** The tenant charged for work on this scope. */
  readonly tenant: string;
  readonly projectId: string;
  /** True when its contents will never change. */
  readonly frozen: boolean;
  /** True when neither its contents nor their embeddings will: the project has no embedder that computes them. */
  readonly hasFixedEmbeddings?: boolean;
}

/** The scope that a derived scope is a part of; another scope itself. */
export function baseOf({ id, kind, filter }: ScopeRef): ScopeRef {
  return { id: filter?.base ?? id, kind };
}

/** The scope of the files and chunks in another scope that match a filter, which is canonical JSON text. */
export function derivedScope(scope: Scope, json: string): Scope {
  const hash = new Bun.CryptoHasher("sha256").update(json).digest("base64url");
  return { ...scope, id: `${scope.id}#${hash}`, filter: { base: scope.id, json } };
}
