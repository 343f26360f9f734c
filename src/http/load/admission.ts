import { availableParallelism } from "node:os";
import { OVERLOADED } from "../../problem/problem.ts";
import { FairQueue } from "../../shared/fair-queue.ts";
import {
  ADMISSION_STARTS_MAX,
  ADMISSION_WAITING_MAX,
  DATABASE_PLACES_MAX,
} from "../../shared/limits.ts";
import { FairPlaces } from "../../shared/tenant-shares.ts";

/**
 * Operations on the database that may be under way, by cores and at most. One tenant alone has half, and leaves
 * connections for others; more would take the cores of a database on this machine from everybody's searches.
 */
const DATABASE_PLACES_PER_CORE = 3;
/** Searches and lookups that may be under way; tenants share these places. */
const SEARCH_PLACES_MAX = 4_096;

/** Knows which requests an engine would refuse. */
interface EngineLoad {
  /** False as long as nobody has to be refused. */
  readonly isFull: boolean;
  /** True when a request of the tenant would be refused now. */
  refuses(tenant: string): boolean;
}

interface Waiting {
  readonly tenant: string;
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

/** Places that tenants share. Who finds none waits, and tenants take turns. */
class Places {
  readonly #places: FairPlaces;
  readonly #waiting = new FairQueue<Waiting>({
    ...{ maxWork: ADMISSION_WAITING_MAX, minLength: 1, maxCost: 1, quantum: 1 },
    maxWaitMs: Number.POSITIVE_INFINITY,
    onDrop: ({ refuse }) => refuse(OVERLOADED),
  });
  #left: string[] = [];

  constructor(places: number) {
    this.#places = new FairPlaces(places);
  }

  /** Takes a place, now or later. Throws `overloaded`, or rejects with it. */
  enter(tenant: string): Promise<void> | undefined {
    if (!this.#waiting.has(tenant) && this.#places.take(tenant)) return undefined;
    const { promise, resolve: enter, reject: refuse } = Promise.withResolvers<void>();
    if (!this.#waiting.push(tenant, { tenant, enter, refuse }, 1)) throw OVERLOADED;
    return promise;
  }

  /** Frees a place after this turn of the event loop, so that a turn has no more requests than places. */
  leave(tenant: string): void {
    if (this.#left.length === 0) setImmediate(() => this.#next());
    this.#left.push(tenant);
  }

  #next(): void {
    const left = this.#left;
    this.#left = [];
    for (const tenant of left) this.#places.release(tenant);
    for (;;) {
      const next = this.#waiting.shift((tenant) => this.#places.hasRoom(tenant));
      if (next === undefined) return;
      this.#places.take(next.tenant);
      next.enter();
    }
  }
}

const DATABASE_PLACES = Math.min(
  DATABASE_PLACES_PER_CORE * availableParallelism(),
  DATABASE_PLACES_MAX,
);

/**
 * Admits the requests of all operations, so that no tenant keeps others from being answered. An operation
 * on the database holds a place until it is answered: one tenant cannot have all connections. One on the
 * engine, which has a queue of its own, holds a place for a turn of the event loop: one tenant cannot
 * take all of a turn. It is also counted until it is answered, because it may wait for a project to load. Bodies
 * are read before, within a budget of bytes (`BodyIntake`).
 */
export class Admission {
  readonly #database: Places;
  readonly #starts = new Places(ADMISSION_STARTS_MAX);
  readonly #engine: FairPlaces;

  constructor(
    private readonly load: EngineLoad,
    enginePlaces = SEARCH_PLACES_MAX,
    databasePlaces = DATABASE_PLACES,
  ) {
    this.#engine = new FairPlaces(enginePlaces);
    this.#database = new Places(databasePlaces);
  }

  /** True while some requests to the engine are refused before they are read. */
  get isShedding(): boolean {
    return this.load.isFull;
  }

  /** True when a request of the tenant to the engine is to be refused before it is read. */
  sheds(tenant: string): boolean {
    return this.load.refuses(tenant);
  }

  /** Lets a request to the engine start, in this turn of the event loop or a later one. */
  start(tenant: string): Promise<void> | undefined {
    const entered = this.#starts.enter(tenant);
    if (entered !== undefined) return entered.then(() => this.#starts.leave(tenant));
    this.#starts.leave(tenant);
    return undefined;
  }

  /**
   * Admits a request whose body has been read, until the returned function is called. Throws `overloaded`,
   * or rejects with it.
   */
  enter(tenant: string, usesEngine: boolean): (() => void) | Promise<() => void> {
    if (usesEngine) {
      if (!this.#engine.take(tenant)) throw OVERLOADED;
      return () => this.#engine.release(tenant);
    }
    const leave = () => this.#database.leave(tenant);
    return this.#database.enter(tenant)?.then(() => leave) ?? leave;
  }
}
