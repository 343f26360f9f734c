import { Budget } from "./budget.ts";

/** The waiting entries of one tenant. */
interface Tenant<T> {
  readonly entries: Entry<T>[];
  /** The cost that it may still take before the next tenant's turn. */
  deficit: number;
}

interface Entry<T> {
  readonly item: T;
  readonly cost: number;
  readonly since: number;
}

interface FairQueueOptions<T> {
  /** The most work that may wait, in the unit of the costs. */
  readonly maxWork: number;
  /** The minimum capacity in entries, whatever their cost; 0 by default. */
  readonly minLength?: number;
  /** No entry counts for more than this. */
  readonly maxCost?: number;
  /** How much work a tenant may take before it is the next one's turn; 1 by default. */
  readonly quantum?: number;
  /** Entries of tenants with a long queue are dropped when they have waited longer. */
  readonly maxWaitMs?: number;
  /** Called for every entry that is dropped. */
  readonly onDrop: (item: T) => void;
  /** The clock in milliseconds. */
  readonly now?: () => number;
}

const DEFAULTS = {
  minLength: 0,
  maxCost: Number.POSITIVE_INFINITY,
  quantum: 1,
  maxWaitMs: Number.POSITIVE_INFINITY,
  now: () => performance.now(),
};

/**
 * A bounded queue that tenants share. They take turns by the cost of their entries (deficit round
 * robin), so the wait of a tenant depends on its own queue and not on the length of another's. When
 * the queue is full, the tenant with the most work in it makes room, by its newest entries: the
 * others have waited longer and are served first.
 */
export class FairQueue<T> {
  /** Tenants with entries, in the order of their turns. */
  readonly #tenants = new Map<string, Tenant<T>>();
  readonly #work: Budget<Entry<T>>;
  readonly #options: Required<FairQueueOptions<T>>;

  constructor(options: FairQueueOptions<T>) {
    this.#options = { ...DEFAULTS, ...options };
    const { maxWork, minLength } = this.#options;
    this.#work = new Budget(maxWork, (heaviest) => this.#dropNewest(heaviest), minLength);
  }

  get length(): number {
    return this.#work.size;
  }

  /** The sum of the costs of all entries. */
  get work(): number {
    return this.#work.total;
  }

  /** How many entries of the tenant wait. */
  count(tenant: string): number {
    return this.#tenants.get(tenant)?.entries.length ?? 0;
  }

  /** True when the tenant has its share of the waiting work, or more. */
  hasShare(tenant: string): boolean {
    const held = this.#work.held(tenant);
    return held > 0 && held * this.#tenants.size >= this.#work.total;
  }

  /** True when an entry of the tenant would be added now. */
  hasRoom(tenant: string, cost: number): boolean {
    return this.#work.hasRoom(tenant, Math.min(cost, this.#options.maxCost));
  }

  /** Adds an entry. False when its tenant has the most work in a full queue. */
  push(tenant: string, item: T, cost = 1): boolean {
    const entry = { item, cost: Math.min(cost, this.#options.maxCost), since: this.#options.now() };
    if (!this.#work.claim(tenant, entry, entry.cost)) return false;
    const deficit = this.#options.quantum;
    const known = this.#tenants.get(tenant) ?? { entries: [], deficit };
    if (known.entries.length === 0) this.#tenants.set(tenant, known);
    known.entries.push(entry);
    return true;
  }

  /**
   * Removes the next entry; undefined in an empty queue.
   * @param isServed tells which entries may be taken; all by default
   */
  shift(isServed: (item: T) => boolean = () => true): T | undefined {
    for (let passed = 0; passed < this.#tenants.size; ) {
      const [name, tenant] = this.#tenants.entries().next().value as [string, Tenant<T>];
      const [entry] = tenant.entries;
      if (entry === undefined) {
        this.#tenants.delete(name);
      } else if (!isServed(entry.item)) {
        this.#endTurn(name, tenant);
        passed++;
      } else if (this.#isLate(name, entry)) {
        tenant.entries.shift();
        this.#drop(name, entry);
      } else if (tenant.deficit < entry.cost) {
        tenant.deficit += this.#options.quantum;
        this.#endTurn(name, tenant);
        passed = 0;
      } else {
        tenant.deficit -= entry.cost;
        tenant.entries.shift();
        this.#work.release(name, entry);
        // An unused deficit must not be saved up for a later burst.
        if (tenant.entries.length === 0) this.#tenants.delete(name);
        return entry.item;
      }
    }
    return undefined;
  }

  /** Maps keep insertion order, so this tenant is the last now. */
  #endTurn(name: string, tenant: Tenant<T>): void {
    this.#tenants.delete(name);
    this.#tenants.set(name, tenant);
  }

  /** A stall of the whole process delays everybody: only tenants above their share pay for it. */
  #isLate(name: string, { since }: Entry<T>): boolean {
    const { minLength, maxWaitMs, maxWork, now } = this.#options;
    if (this.length <= minLength || now() - since <= maxWaitMs) return false;
    return this.#work.held(name) * this.#tenants.size > maxWork;
  }

  #dropNewest(name: string): void {
    this.#drop(name, this.#tenants.get(name)?.entries.pop() as Entry<T>);
  }

  #drop(name: string, entry: Entry<T>): void {
    this.#work.release(name, entry);
    this.#options.onDrop(entry.item);
  }
}
