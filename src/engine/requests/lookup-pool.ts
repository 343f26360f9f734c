import { lookup } from "../../../workers/lookup.ts";
import type { LookupResult, LookupTask } from "../../../workers/protocol.ts";
import { LOOKUP_COSTS_MAX } from "../../shared/limits.ts";
import type { TurnBudget } from "../../shared/turn-budget.ts";

/** A query of this length costs twice as much as an empty one would. */
const BASE_CHARS = 16;

/** A lookup in a scope that has not been measured. */
const UNKNOWN_COST_MS = 1;

/** Runs a lookup of a tenant, which is expected to take so many milliseconds. */
export type RunOnWorker = (
  tenant: string,
  task: LookupTask,
  costMs: number,
) => Promise<LookupResult>;

/**
 * Runs lookups on this thread or on the workers. A lookup that is expected to be cheap runs on this
 * thread, without a hand-off, as long as the current turn of the event loop has time left. The
 * expectation is the cost of recent lookups of the scope per character of the query.
 */
export class LookupPool {
  /** Average milliseconds per character of recent lookups, by scope. */
  readonly #costs = new Map<string, number>();

  constructor(
    private readonly runOnWorker: RunOnWorker,
    private readonly budget: TurnBudget,
  ) {}

  /** Looks up for a tenant, who shares the workers with others. */
  lookup(tenant: string, scopeId: string, task: LookupTask): LookupResult | Promise<LookupResult> {
    // Browsing costs next to nothing, which must not make searches look cheap.
    const key = task.query === null ? `${scopeId}/` : scopeId;
    const chars = BASE_CHARS + (task.query?.length ?? 0);
    const cost = (this.#costs.get(key) ?? Number.POSITIVE_INFINITY) * chars;
    if (this.budget.allows(cost)) {
      const result = lookup(task);
      this.budget.spend(result.took);
      this.#recordCost(key, result.took / chars);
      return result;
    }
    const expected = Number.isFinite(cost) ? cost : UNKNOWN_COST_MS;
    return this.runOnWorker(tenant, task, expected).then((result) => {
      this.#recordCost(key, result.took / chars);
      return result;
    });
  }

  #recordCost(key: string, cost: number): void {
    const known = this.#costs.get(key);
    if (known === undefined && this.#costs.size >= LOOKUP_COSTS_MAX) this.#costs.clear();
    // A moving average, because a single slow lookup may only mean that a thread was interrupted.
    this.#costs.set(key, known === undefined ? cost : known + (cost - known) / 8);
  }
}
