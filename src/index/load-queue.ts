import pTimeout from "p-timeout";
import {
  INDEX_LOADS_AT_ONCE,
  INDEX_TENANT_LOADS_MAX,
  INDEX_TENANT_LOADS_WAITING_MAX,
} from "../domain/limits.ts";
import { OVERLOADED } from "../domain/problem/problem.ts";
import { FairSemaphore, SERIAL } from "../ops/tenants/fair-semaphore.ts";

/** Time slot of a load. A load that takes longer continues while the next one runs. */
const INDEX_LOAD_TURN_MS = 1_000;

/** Requests that may wait for loads; tenants share these places, because each keeps its body in memory. */
const LOAD_REQUESTS_MAX = 4_096;

/** A load that requests wait for. */
interface Load {
  readonly key: string;
  readonly begin: (tenant: string) => Promise<boolean>;
  readonly found: PromiseWithResolvers<boolean>;
  /** The tenants in whose turns it may begin, and who wait for these. */
  readonly tenants: Set<string>;
  /** How many requests wait for it. */
  requests: number;
  begun: boolean;
}

/**
 * Loads that requests wait for. At most INDEX_LOADS_AT_ONCE run, and tenants take turns, so a tenant waits for one load
 * of each other tenant and not for all of them. A load that several tenants wait for starts in the first of their
 * turns. It holds its place for INDEX_LOAD_TURN_MS at most, and then continues while the next one runs: a project that
 * takes minutes to load does not delay others for minutes. A tenant with INDEX_TENANT_LOADS_MAX running loads waits
 * until one of them has ended.
 */
export class LoadQueue {
  /** Loads that have not ended, by key, including loads whose requests have all gone. */
  readonly #loads = new Map<string, Load>();
  /** Loads of each tenant that wait for their turn or run. */
  readonly #own: FairSemaphore;
  readonly #turns: FairSemaphore;
  readonly #requests: FairSemaphore;

  /**
   * @param atOnce maximum number of loads in their turn
   * @param tenantLoads maximum number of running loads of a tenant, including loads whose turn is over
   */
  constructor(
    private readonly turnMs = INDEX_LOAD_TURN_MS,
    maxRequests = LOAD_REQUESTS_MAX,
    { atOnce = INDEX_LOADS_AT_ONCE, tenantLoads = INDEX_TENANT_LOADS_MAX } = {},
  ) {
    this.#own = new FairSemaphore({ ...SERIAL, tenantPermits: tenantLoads });
    this.#turns = new FairSemaphore({ ...SERIAL, permits: atOnce, tenantPermits: atOnce });
    this.#requests = new FairSemaphore({ permits: maxRequests });
  }

  /** Loads that run or that requests wait for. */
  get length(): number {
    return [...this.#loads.values()].filter(({ begun, requests }) => begun || requests > 0).length;
  }

  /**
   * Waits until the load of this key has ended, and returns its result; undefined after `timeoutMs`.
   * `begin` starts it, and rejects for all requests if it rejects. It is not called when all requests have given up before.
   * Throws `overloaded` when INDEX_TENANT_LOADS_WAITING_MAX loads of the tenant wait already, or it has its share of
   * the requests that wait.
   */
  wait(
    tenant: string,
    key: string,
    begin: Load["begin"],
    timeoutMs: number,
  ): Promise<boolean | undefined> {
    return this.#requests.run(tenant, () => this.#wait(tenant, key, begin, timeoutMs));
  }

  async #wait(
    tenant: string,
    key: string,
    begin: Load["begin"],
    timeoutMs: number,
  ): Promise<boolean | undefined> {
    const load = this.#loads.get(key) ?? this.#newLoad(key, begin);
    if (!load.begun && !load.tenants.has(tenant)) {
      if (this.#own.waiting(tenant) >= INDEX_TENANT_LOADS_WAITING_MAX) throw OVERLOADED;
      load.tenants.add(tenant);
      this.#loads.set(key, load);
      void this.#runInTurn(tenant, load);
    }
    load.requests++;
    const fallback = () => undefined;
    try {
      return await pTimeout(load.found.promise, { milliseconds: timeoutMs, fallback });
    } finally {
      load.requests--;
    }
  }

  #newLoad(key: string, begin: Load["begin"]): Load {
    const found = Promise.withResolvers<boolean>();
    // All requests may have given up before it fails.
    found.promise.catch(() => {});
    return { key, begin, found, tenants: new Set(), requests: 0, begun: false };
  }

  /** A load that another tenant's turn has started, or whose requests have all gone, passes its turn on. */
  async #runInTurn(tenant: string, load: Load): Promise<void> {
    const release = await this.#own.lease(tenant);
    const endTurn = await this.#turns.lease(tenant);
    const timer = setTimeout(endTurn, this.turnMs);
    timer.unref();
    load.tenants.delete(tenant);
    if (!load.begun && load.requests > 0) await this.#run(tenant, load);
    else if (!load.begun && load.tenants.size === 0) this.#loads.delete(load.key);
    clearTimeout(timer);
    endTurn();
    release();
  }

  async #run(tenant: string, load: Load): Promise<void> {
    const { key, begin, found } = load;
    load.begun = true;
    try {
      found.resolve(await begin(tenant));
    } catch (error) {
      found.reject(error);
    }
    this.#loads.delete(key);
  }
}
