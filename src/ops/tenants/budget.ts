/** The amounts that one tenant holds. */
interface Account<T> {
  held: number;
  /** The amount of each entry, the oldest first. */
  readonly entries: Map<T, number>;
}

/**
 * An amount that tenants share, in entries that can be taken away. When it is used up, the tenant who holds the
 * most pays: other tenants get the entries that it gives up, and its own further claims are refused.
 */
export class Budget<T> {
  readonly #accounts = new Map<string, Account<T>>();
  #total = 0;
  #size = 0;

  /**
   * @param takeFrom makes the tenant who holds the most release an entry
   * @param minEntries the number of entries that are granted whatever their amount
   */
  constructor(
    readonly max: number,
    private readonly takeFrom: (tenant: string, oldest: T) => void,
    private readonly minEntries = 0,
  ) {}

  get total(): number {
    return this.#total;
  }

  /** The number of entries. */
  get size(): number {
    return this.#size;
  }

  held(tenant: string): number {
    return this.#accounts.get(tenant)?.held ?? 0;
  }

  oldest(tenant: string): T | undefined {
    return this.#accounts.get(tenant)?.entries.keys().next().value;
  }

  /** True when another claim of this amount would be at somebody's expense. */
  isFull(amount: number): boolean {
    return this.#size >= this.minEntries && this.#total + amount > this.max;
  }

  /** True when a claim of the tenant would be granted now. */
  hasRoom(tenant: string, amount: number): boolean {
    return !this.isFull(amount) || this.held(this.#heaviest()) > this.held(tenant) + amount;
  }

  /** Grants an amount to an entry, which may have some already. False when no other tenant would hold more. */
  claim(tenant: string, entry: T, amount: number): boolean {
    while (this.isFull(amount)) {
      if (!this.hasRoom(tenant, amount)) return false;
      const heaviest = this.#heaviest();
      this.takeFrom(heaviest, this.oldest(heaviest) as T);
    }
    const account = this.#accounts.get(tenant) ?? { held: 0, entries: new Map<T, number>() };
    if (account.entries.size === 0) this.#accounts.set(tenant, account);
    const known = account.entries.get(entry);
    if (known === undefined) this.#size++;
    account.entries.set(entry, (known ?? 0) + amount);
    account.held += amount;
    this.#total += amount;
    return true;
  }

  /** Frees the amount of an entry. False for an unknown entry. */
  release(tenant: string, entry: T): boolean {
    const account = this.#accounts.get(tenant);
    const amount = account?.entries.get(entry);
    if (account === undefined || amount === undefined) return false;
    account.entries.delete(entry);
    account.held -= amount;
    this.#size--;
    // Sums of fractions drift, so they begin again at zero.
    if (account.entries.size === 0) this.#accounts.delete(tenant);
    this.#total = this.#size === 0 ? 0 : this.#total - amount;
    return true;
  }

  #heaviest(): string {
    let heaviest = "";
    let most = Number.NEGATIVE_INFINITY;
    for (const [tenant, { held }] of this.#accounts) {
      if (held <= most) continue;
      heaviest = tenant;
      most = held;
    }
    return heaviest;
  }
}
