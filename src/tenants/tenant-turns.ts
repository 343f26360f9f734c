import type { Problem } from "../problem/problem.ts";

interface TurnOptions {
  /** A turn that is longer than this is not waited for, nor does anybody wait longer for one. */
  readonly waitMaxMs: number;
  /** After its turn a tenant rests for this multiple of it, which leaves the rest of the time to others. */
  readonly restFactor: number;
  /** What those are told who do not get a turn. */
  readonly refusal: () => Problem;
}

interface Turn {
  readonly begunAt: number;
  readonly over: Promise<void>;
}

/**
 * Turns of tenants at work that takes long, one at a time for each tenant. Others of the tenant wait for a short turn,
 * and are refused at once while a long one goes on, so a flood of them neither queues up nor goes on after its clients
 * have left.
 */
export class TenantTurns {
  readonly #turns = new Map<string, Turn>();

  constructor(private readonly options: TurnOptions) {}

  /** Does work in a turn of the tenant. Throws the refusal without starting it; so it does once `signal` is aborted. */
  async run<T>(tenant: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(tenant, signal);
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const begunAt = performance.now();
    this.#turns.set(tenant, { begunAt, over });
    try {
      return await work();
    } finally {
      const restMs = this.options.restFactor * (performance.now() - begunAt);
      setTimeout(() => {
        this.#turns.delete(tenant);
        end();
      }, restMs).unref();
    }
  }

  async #enter(tenant: string, signal: AbortSignal): Promise<void> {
    const { waitMaxMs, refusal } = this.options;
    const asked = performance.now();
    for (;;) {
      const turn = this.#turns.get(tenant);
      if (turn === undefined) return;
      const leftMs = Math.min(turn.begunAt, asked) + waitMaxMs - performance.now();
      if (leftMs <= 0 || signal.aborted) throw refusal();
      await Promise.race([turn.over, Bun.sleep(leftMs)]);
    }
  }
}
