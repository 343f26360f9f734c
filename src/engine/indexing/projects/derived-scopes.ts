import { timed } from "../../../observability/long-tasks.ts";
import { compileFilter } from "../../../shared/filter/compile.ts";
import { FILTERS_CACHED_MAX } from "../../../shared/limits.ts";
import type { ScopeRef } from "../../requests/scope.ts";
import { FilterResults } from "../fields/filter-results.ts";
import type { Members } from "../versions/version-index.ts";
import { evaluateInTurns } from "./filter-turns.ts";
import type { IndexingContext } from "./indexing-context.ts";

/** A scope with the filter from which it is derived. */
type FilteredScope = ScopeRef & Required<Pick<ScopeRef, "filter">>;

interface DerivedScope {
  readonly scope: FilteredScope;
  /** The user who asked for it first. */
  readonly tenant: string;
  readonly results: FilterResults;
  /** The evaluation that is under way. */
  running: Promise<boolean> | undefined;
}

/**
 * The parts of a project's scopes that filters match. A filter is evaluated when it is first asked
 * for. A change of the scope drops what was derived from it; the next request derives it again, for
 * which only new file versions are evaluated.
 */
export class DerivedScopes {
  /** By id, least recently used first. */
  readonly #derived = new Map<string, DerivedScope>();
  #closed = false;

  constructor(
    private readonly projectId: string,
    private readonly context: IndexingContext,
  ) {}

  /**
   * Derives a scope, unless it is one that is not derived; resolves when searches can use it. False if its
   * base is not indexed.
   */
  async ensure(scope: ScopeRef, tenant: string): Promise<boolean> {
    const { id, kind, filter } = scope;
    if (filter === undefined) return true;
    const derived = this.#derived.get(id) ?? this.#create({ id, kind, filter }, tenant);
    if (derived === undefined) return false;
    this.used(id);
    derived.running ??= this.#derive(derived).finally(() => {
      derived.running = undefined;
    });
    return await derived.running;
  }

  /** What a derived scope holds; undefined unless all of its base has been evaluated. */
  membersOf(id: string): Members | undefined {
    const derived = this.#derived.get(id);
    const project = this.context.fields.find(this.projectId);
    const versions = project?.scopes.get(derived?.scope.filter.base ?? "");
    return versions === undefined ? undefined : derived?.results.membersIn(versions);
  }

  /** Notes that a scope was searched, so that others are dropped first. */
  used(id: string): void {
    const derived = this.#derived.get(id);
    if (derived === undefined) return;
    this.#derived.delete(id);
    this.#derived.set(id, derived);
  }

  /** Drops what was derived from a scope that is being replaced or dropped. */
  baseChanges(base: string): void {
    for (const [id, { scope }] of this.#derived) if (scope.filter.base === base) this.#drop(id);
  }

  /** Ends the evaluations under way without effect. */
  close(): void {
    this.#closed = true;
    this.#derived.clear();
  }

  #create(scope: FilteredScope, tenant: string): DerivedScope | undefined {
    const project = this.context.fields.find(this.projectId);
    if (project === undefined) return undefined;
    if (this.#derived.size >= FILTERS_CACHED_MAX) this.#evict();
    const filter = compileFilter(JSON.parse(scope.filter.json) as Record<string, unknown>);
    const results = new FilterResults(project, filter);
    const derived: DerivedScope = { scope, tenant, results, running: undefined };
    this.#derived.set(scope.id, derived);
    return derived;
  }

  /** Drops the least recently used scope of the tenant who has most of them that are complete. */
  #evict(): void {
    const byTenant = new Map<string, string[]>();
    for (const [id, { tenant, running }] of this.#derived) {
      if (running !== undefined) continue;
      const own = byTenant.get(tenant) ?? [];
      own.push(id);
      byTenant.set(tenant, own);
    }
    const most = [...byTenant.values()].sort((a, b) => b.length - a.length)[0];
    const oldest = most?.[0];
    if (oldest === undefined) return;
    this.#drop(oldest);
    this.#derived.delete(oldest);
  }

  #drop(id: string): void {
    for (const index of this.context.indexes) index.dropDerived?.(this.projectId, id);
  }

  /** Evaluates until the base has not changed meanwhile. */
  async #derive({ scope, results }: DerivedScope): Promise<boolean> {
    const { fields, filterTurns } = this.context;
    const { base } = scope.filter;
    while (!this.#closed) {
      const versions = fields.find(this.projectId)?.scopes.get(base);
      if (versions === undefined) return false;
      const members = timed("list a derived scope", () => results.membersIn(versions));
      if (members === undefined) {
        await evaluateInTurns(filterTurns, results.evaluate(versions), () => !this.#closed);
      } else {
        timed("derive a scope", () => {
          for (const index of this.context.indexes)
            index.derive?.(this.projectId, scope.id, members);
        });
        return true;
      }
    }
    return false;
  }
}
