/** What one tenant has waiting. */
interface Tenant<T> {
  readonly entries: Entry<T>[];
  /** The sum of the costs of its entries. */
  work: number;
  /** What it may still take before it is the next tenant's turn. */
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
  /** This many entries may always wait, however much work they are. */
  readonly minLength: number;
  /** No entry counts for more than this. */
  readonly maxCost: number;
  /** How much work a tenant may take before it is the next one's turn. */
  readonly quantum: number;
  /** Entries of tenants with a long queue are dropped when they have waited longer. */
  readonly maxWaitMs: number;
  /** Called for every entry that is dropped. */
  readonly onDrop: (item: T) => void;
  /** The clock in milliseconds. */
  readonly now?: () => number;
}

/**
 * A bounded queue that tenants share. They take turns by the cost of their entries (deficit round
 * robin), so the wait of a tenant depends on its own queue and not on the length of another's. When
 * the queue is full, the tenant with the most work in it makes room, by its newest entries: the
 * others have waited longer and are served first.
 */
export class FairQueue<T> {
  /** Tenants with entries, in the order of their turns. */
  readonly #tenants = new Map<string, Tenant<T>>();
  #length = 0;
  #work = 0;
  readonly #now: () => number;

  constructor(private readonly options: FairQueueOptions<T>) {
    this.#now = options.now ?? (() => performance.now());
  }

  get length(): number {
    return this.#length;
  }

  /** The sum of the costs of all entries. */
  get work(): number {
    return this.#work;
  }

  /** True when an entry of such a cost drops entries of another tenant, or is not added. */
  isFull(cost: number): boolean {
    return this.#exceeds(Math.min(cost, this.options.maxCost));
  }

  /** True when an entry of the tenant would be added now. */
  hasRoom(tenant: string, cost: number): boolean {
    const bounded = Math.min(cost, this.options.maxCost);
    const own = this.#tenants.get(tenant)?.work ?? 0;
    return !this.#exceeds(bounded) || this.#heaviest().work > own + bounded;
  }

  /** Adds an entry. False when its tenant has the most work in a full queue. */
  push(tenant: string, item: T, cost: number): boolean {
    const bounded = Math.min(cost, this.options.maxCost);
    while (this.#exceeds(bounded)) {
      const heaviest = this.#heaviest();
      const own = this.#tenants.get(tenant)?.work ?? 0;
      if (heaviest.work <= own + bounded) return false;
      this.#drop(heaviest, heaviest.entries.pop() as Entry<T>);
    }
    const known = this.#tenants.get(tenant) ?? { entries: [], work: 0, deficit: 0 };
    if (known.entries.length === 0) this.#tenants.set(tenant, known);
    known.entries.push({ item, cost: bounded, since: this.#now() });
    this.#count(known, 1, bounded);
    return true;
  }

  /** Removes the entry that is next; undefined when the queue is empty. */
  shift(): T | undefined {
    for (;;) {
      const next = this.#tenants.entries().next().value;
      if (next === undefined) return undefined;
      const [name, tenant] = next;
      const [entry] = tenant.entries;
      if (entry === undefined) {
        this.#tenants.delete(name);
      } else if (this.#isLate(tenant, entry)) {
        tenant.entries.shift();
        this.#drop(tenant, entry);
      } else if (tenant.deficit < entry.cost) {
        tenant.deficit += this.options.quantum;
        // Maps keep insertion order, so this ends the tenant's turn.
        this.#tenants.delete(name);
        this.#tenants.set(name, tenant);
      } else {
        tenant.entries.shift();
        tenant.deficit -= entry.cost;
        this.#count(tenant, -1, -entry.cost);
        // An unused deficit must not be saved up for a later burst.
        if (tenant.entries.length === 0) this.#tenants.delete(name);
        return entry.item;
      }
    }
  }

  #exceeds(more: number): boolean {
    return this.#length >= this.options.minLength && this.#work + more > this.options.maxWork;
  }

  /** A stall of the whole process delays everybody: only tenants above their share pay for it. */
  #isLate(tenant: Tenant<T>, { since }: Entry<T>): boolean {
    if (this.#length <= this.options.minLength) return false;
    if (this.#now() - since <= this.options.maxWaitMs) return false;
    return tenant.work * this.#tenants.size > this.options.maxWork;
  }

  #heaviest(): Tenant<T> {
    let heaviest: Tenant<T> | undefined;
    for (const tenant of this.#tenants.values()) {
      if (heaviest === undefined || tenant.work > heaviest.work) heaviest = tenant;
    }
    return heaviest as Tenant<T>;
  }

  #drop(tenant: Tenant<T>, entry: Entry<T>): void {
    this.#count(tenant, -1, -entry.cost);
    this.options.onDrop(entry.item);
  }

  #count(tenant: Tenant<T>, entries: number, work: number): void {
    this.#length += entries;
    tenant.work += work;
    // Sums of fractions drift; an empty queue has no work.
    this.#work = this.#length === 0 ? 0 : this.#work + work;
  }
}
