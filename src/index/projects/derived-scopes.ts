import { FILTERS_CACHED_MAX } from "../../domain/limits.ts";
import type { ScopeRef } from "../../domain/scope.ts";
import { timed } from "../../ops/observability/long-tasks.ts";
import { completely } from "../fields/field-work.ts";
import { FilterResults } from "../fields/filter-results.ts";
import type { NumberSet } from "../versions/number-set.ts";
import type { Members } from "../versions/version-index.ts";
import type { IndexingContext } from "./indexing-context.ts";

/** A scope that requests wait for. */
export interface WantedScope {
  readonly projectId: string;
  readonly scope: ScopeRef;
  /** The user who asks. */
  readonly tenant: string;
  /** The names of the indexes in which a derived scope is needed. */
  readonly indexes: readonly string[];
}

/** A scope with the filter from which it is derived. */
type FilteredScope = ScopeRef & Required<Pick<ScopeRef, "filter">>;

interface DerivedScope {
  readonly scope: FilteredScope;
  /** The user who requested it first. */
  readonly tenant: string;
  readonly results: FilterResults;
  /** The evaluation that is under way. */
  evaluating: Promise<boolean> | undefined;
  /** By the names of the indexes for which the scope is being derived. */
  readonly running: Map<string, Promise<Derived>>;
}

/** Whether searches can use a scope; `late` if its filter was not evaluated in time. */
export type Derived = boolean | "late";

/** Time budget for the evaluation of a filter per request. Later requests reuse the partial result. */
const FILTER_WORK_MAX_MS = 500;

/**
 * The parts of a project's scopes that match filters. A filter is evaluated when it is first requested, and set in the
 * index that needs it. A change of a scope drops its derived scopes. The next request derives them again, which
 * evaluates only new file versions.
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
   * Derives a scope, unless it is one that is not derived; resolves when searches of these indexes can
   * use it. False if its base is not indexed.
   */
  async ensure({ scope, tenant, indexes }: Omit<WantedScope, "projectId">): Promise<Derived> {
    const { id, kind, filter } = scope;
    if (filter === undefined) return true;
    const derived = this.#derived.get(id) ?? this.#create({ id, kind, filter }, tenant);
    if (derived === undefined) return false;
    this.used(id);
    const { running } = derived;
    const key = indexes.join(" ");
    const run =
      running.get(key) ?? this.#derive(derived, indexes).finally(() => running.delete(key));
    running.set(key, run);
    return await run;
  }

  /**
   * The members of a derived scope; undefined until all of its base has been evaluated.
   *
   * @param among the versions whose members are wanted; all by default
   */
  membersOf(id: string, among?: readonly string[]): Members | undefined {
    const derived = this.#derived.get(id);
    const table = this.context.fields.find(this.projectId)?.table;
    const base = derived?.scope.filter.base ?? "";
    const versions = among === undefined ? table?.scopes.get(base) : table?.heldAmong(base, among);
    return versions === undefined ? undefined : derived?.results.membersIn(versions);
  }

  /** Notes that a scope was searched, so that others are dropped first. */
  used(id: string): void {
    const derived = this.#derived.get(id);
    if (derived === undefined) return;
    this.#derived.delete(id);
    this.#derived.set(id, derived);
  }

  /** Drops the scopes that are derived from a scope that is being replaced or dropped. */
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
    const results = new FilterResults(project, scope.filter.json);
    const [evaluating, running] = [undefined, new Map<string, Promise<Derived>>()];
    const derived: DerivedScope = { scope, tenant, results, evaluating, running };
    this.#derived.set(scope.id, derived);
    return derived;
  }

  /** Drops the least recently used scope of the tenant who has most of them that are complete. */
  #evict(): void {
    const byTenant = new Map<string, string[]>();
    for (const [id, { tenant, running }] of this.#derived) {
      if (running.size > 0) continue;
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
    for (const index of this.context.indexes) index.dropScope?.(this.projectId, id);
  }

  /** Evaluates until the base has not changed meanwhile. */
  async #derive(derived: DerivedScope, names: readonly string[]): Promise<Derived> {
    const { scope, results } = derived;
    const { fields, indexes } = this.context;
    const { base } = scope.filter;
    const wanted = indexes.filter(({ name }) => names.includes(name));
    while (!this.#closed) {
      const versions = fields.find(this.projectId)?.table.scopes.get(base);
      if (versions === undefined) return false;
      const members = timed("list a derived scope", () => results.membersIn(versions));
      if (members === undefined) {
        derived.evaluating ??= this.#evaluate(derived, versions).finally(() => {
          derived.evaluating = undefined;
        });
        const isComplete = await derived.evaluating;
        if (!isComplete && !this.#closed) return "late";
      } else {
        timed("derive a scope", () => {
          for (const index of wanted) index.setScope?.(this.projectId, scope.id, members);
        });
        return true;
      }
    }
    return false;
  }

  /**
   * Evaluates a filter once for all indexes that wait for it, after others of the same user. False if that has taken
   * too long.
   */
  async #evaluate({ results, tenant }: DerivedScope, versions: NumberSet): Promise<boolean> {
    const evaluation = completely(results.evaluate(versions));
    const options = { isNeeded: () => !this.#closed, budgetMs: FILTER_WORK_MAX_MS };
    const { fieldWork } = this.context;
    return (await fieldWork.inTurn(tenant, (evaluate) => evaluate(evaluation, options))) === true;
  }
}
