import type { LookupResult } from "../../../workers/protocol.ts";
import type { KnowledgeEngine } from "../requests/lookup-engine.ts";
import type { LookupPool } from "../requests/lookup-pool.ts";
import type { Scope } from "../requests/scope.ts";
import { type ProjectLoader, whenLoaded } from "../requests/when-loaded.ts";
import type { LookupQuery, SharedView, ViewStore } from "../text/index.ts";

/** Limits how many requests may wait for threads. */
interface Admission {
  admit(tenant: string): void;
  release(tenant: string): void;
}

/** Answers lookups from the views that the indexing thread publishes. */
export class EmbeddedKnowledge implements KnowledgeEngine {
  constructor(
    private readonly views: ViewStore,
    private readonly loader: ProjectLoader,
    private readonly admission: Admission,
    private readonly pool: LookupPool,
    private readonly tookSeconds: (seconds: number) => void = () => {},
  ) {}

  async lookup(tenant: string, scope: Scope, query: LookupQuery): Promise<LookupResult> {
    this.admission.admit(tenant);
    try {
      this.loader.used(scope.projectId);
      const task = { ...query, view: await this.#view(scope) };
      const result = await this.pool.lookup(tenant, scope.id, task);
      this.tookSeconds(result.took / 1_000);
      return result;
    } finally {
      this.admission.release(tenant);
    }
  }

  #view(scope: Scope): SharedView | Promise<SharedView> {
    const { projectId, id } = scope;
    const view = this.views.view(projectId, id);
    if (view !== undefined && this.loader.isLoaded(projectId)) return view;
    return whenLoaded(this.loader, scope, () => this.views.view(projectId, id));
  }
}
