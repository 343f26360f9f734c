import type { LookupResult, LookupTask } from "../../workers/protocol.ts";
import { Problem } from "../problem/problem.ts";
import { DEPENDENCY_RETRY_AFTER_SECONDS, SEARCH_LOAD_TIMEOUT_MS } from "../shared/limits.ts";
import type { ViewStore } from "../text/index.ts";
import type { KnowledgeEngine, LookupRequest, LookupScope } from "./engine.ts";

/** Brings projects into memory and keeps them there while they are used. */
export interface ProjectLoader {
  isResident(projectId: string): boolean;
  used(projectId: string): void;
  /** False when there is no such scope, undefined when it takes longer than `timeoutMs`. */
  ensureWithin(
    projectId: string,
    scope: { id: string; kind: "environment" | "release" },
    timeoutMs: number,
  ): Promise<boolean | undefined>;
}

/** Bounds how many requests may wait for threads. */
export interface Admission {
  admit(): void;
  release(): void;
}

/** Answers lookups from the views that the indexing thread publishes, on the worker threads. */
export class EmbeddedKnowledge implements KnowledgeEngine {
  constructor(
    private readonly views: ViewStore,
    private readonly loader: ProjectLoader,
    private readonly admission: Admission,
    private readonly run: (task: LookupTask) => Promise<LookupResult>,
  ) {}

  async lookup(scope: LookupScope, request: LookupRequest): Promise<LookupResult> {
    this.admission.admit();
    try {
      this.loader.used(scope.projectId);
      return await this.run({ ...request, view: await this.#view(scope) });
    } finally {
      this.admission.release();
    }
  }

  async #view(scope: LookupScope) {
    const { projectId, id, kind } = scope;
    const view = this.views.view(projectId, id);
    if (view !== undefined && this.loader.isResident(projectId)) return view;
    const wanted = { id, kind };
    const found = await this.loader.ensureWithin(projectId, wanted, SEARCH_LOAD_TIMEOUT_MS);
    const loaded = this.views.view(projectId, id);
    if (loaded !== undefined) return loaded;
    if (found === false) {
      throw new Problem(kind === "environment" ? "environment-not-found" : "release-not-found");
    }
    throw new Problem("dependency-unavailable", {
      detail: "The project's text is still being loaded.",
      headers: { "retry-after": String(DEPENDENCY_RETRY_AFTER_SECONDS) },
    });
  }
}
