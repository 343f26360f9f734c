import { TenantGate } from "./tenant-gate.ts";

interface TurnOptions {
  /** What a tenant has under way at most, in the unit of the costs; by default 1, so that its turns come one by one. */
  readonly places?: number;
  /** Nobody waits longer for a turn. */
  readonly waitMaxMs: number;
  /** After a turn its tenant rests for this multiple of it, which leaves the rest of the time to others; 0 by default. */
  readonly restFactor?: number;
  readonly restMaxMs?: number;
  /** True where there is nobody to leave the time to; by default there always is. */
  readonly isAlone?: (tenant: string) => boolean;
}

interface Taking {
  /** What the turn takes of the places, all of them at most; 1 by default. */
  readonly cost?: number;
  /** Aborted when nobody needs the turn any more. */
  readonly signal?: AbortSignal;
}

const DEFAULTS = {
  ...{ places: 1, restFactor: 0, restMaxMs: Number.POSITIVE_INFINITY, isAlone: () => false },
};

/**
 * Turns of tenants at work that takes long. Others of the tenant wait for some time, in order, so a flood of them neither
 * queues up for long nor goes on after its clients have left.
 */
export class TenantTurns {
  readonly #options: Required<TurnOptions>;
  readonly #gate: TenantGate;

  constructor(options: TurnOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const [places, maxWaiting] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    this.#gate = new TenantGate({ places, tenantPlaces: this.#options.places, maxWaiting });
  }

  /** Does work in a turn of the tenant; undefined, without beginning, as `take` is. */
  async run<T>(tenant: string, work: () => Promise<T>, taking?: Taking): Promise<T | undefined> {
    const end = await this.take(tenant, taking);
    if (end === undefined) return undefined;
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Begins a turn of the tenant. Resolves with what ends it; undefined if it comes too late for the caller. */
  async take(tenant: string, { cost = 1, signal }: Taking = {}): Promise<(() => void) | undefined> {
    const { places, restFactor, restMaxMs, isAlone } = this.#options;
    const held = Math.min(cost, places);
    const leave = () => this.#gate.leave(tenant, held);
    const entered = this.#gate.enter(tenant, held);
    const isInTime = entered === undefined || (await this.#isInTime(entered));
    if (!isInTime || signal?.aborted === true) {
      // It keeps its place in the order, and passes it on.
      void Promise.resolve(entered).then(leave);
      return undefined;
    }
    const begun = performance.now();
    return () => {
      const restMs = Math.min(restFactor * (performance.now() - begun), restMaxMs);
      if (restMs === 0 || isAlone(tenant)) leave();
      else setTimeout(leave, restMs).unref();
    };
  }

  async #isInTime(entered: Promise<void>): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(() => resolve(false), this.#options.waitMaxMs);
    const isInTime = await Promise.race([entered.then(() => true), late]);
    clearTimeout(timer);
    return isInTime;
  }
}
