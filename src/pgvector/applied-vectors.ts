import type { Sql } from "../db/client.ts";
import { VECTOR_APPLIED_POLL_MS } from "../shared/limits.ts";
import { SingleFlight } from "../shared/single-flight.ts";
import { readState } from "./catalogue.ts";

/** The changes that the engine's database has applied. Concurrent callers share a query. */
export class AppliedVectors {
  readonly #state: SingleFlight<Awaited<ReturnType<typeof readState>>>;

  constructor(sql: Sql) {
    this.#state = new SingleFlight(() => readState(sql));
  }

  /** True if searches see all changes up to this one. Rejects when the database does not answer. */
  async has(seq: number): Promise<boolean> {
    const state = await this.#state.run();
    return state.complete && state.seq >= seq;
  }

  /** Resolves with true once `has` returns true, or with false on an abort of the signal. */
  async waitFor(seq: number, signal: AbortSignal): Promise<boolean> {
    while (!(await this.has(seq).catch(() => false))) {
      if (signal.aborted) return false;
      await Bun.sleep(VECTOR_APPLIED_POLL_MS);
    }
    return true;
  }
}
