/**
 * An amount that tenants share. When it is used up, the tenant who holds the most pays: others get what
 * that tenant has to give up, and its own further claims are refused.
 */
export class TenantShares {
  readonly #held = new Map<string, number>();
  #total = 0;

  /** @param isFree true while claims are granted beyond the maximum */
  constructor(
    private readonly max: number,
    private readonly isFree: () => boolean = () => false,
  ) {}

  get total(): number {
    return this.#total;
  }

  held(tenant: string): number {
    return this.#held.get(tenant) ?? 0;
  }

  /** True when another claim of this amount would be at somebody's expense. */
  isFull(amount: number): boolean {
    return !this.isFree() && this.#total + amount > this.max;
  }

  /** True when a claim of the tenant would be granted now. */
  hasRoom(tenant: string, amount: number): boolean {
    return !this.isFull(amount) || this.held(this.#heaviest()) > this.held(tenant) + amount;
  }

  /**
   * Grants an amount to a tenant. False when no other tenant would hold more.
   * @param takeFrom makes a tenant give something up, with `giveUp`
   */
  claim(tenant: string, amount: number, takeFrom: (heaviest: string) => void): boolean {
    while (this.isFull(amount)) {
      if (!this.hasRoom(tenant, amount)) return false;
      takeFrom(this.#heaviest());
    }
    this.#held.set(tenant, this.held(tenant) + amount);
    this.#total += amount;
    return true;
  }

  /** @param isLast true when the tenant holds nothing any more, because sums of fractions drift */
  giveUp(tenant: string, amount: number, isLast: boolean): void {
    if (isLast) this.#held.delete(tenant);
    else this.#held.set(tenant, this.held(tenant) - amount);
    this.#total = this.#held.size === 0 ? 0 : this.#total - amount;
  }

  #heaviest(): string {
    let heaviest = "";
    let most = Number.NEGATIVE_INFINITY;
    for (const [tenant, held] of this.#held) {
      if (held <= most) continue;
      heaviest = tenant;
      most = held;
    }
    return heaviest;
  }
}

/**
 * A bounded number of places that tenants share. A tenant may hold as many as are still free, so one
 * alone gets half of them, and there are always some left for another.
 */
export class FairPlaces {
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(private readonly places: number) {}

  /** True when the tenant would hold no more than its share with so many more. */
  hasRoom(tenant: string, count = 1): boolean {
    return (this.#held.get(tenant) ?? 0) + count <= this.places - this.#taken;
  }

  /** Takes a place. False when the tenant holds its share. */
  take(tenant: string): boolean {
    if (!this.hasRoom(tenant)) return false;
    this.hold(tenant, 1);
    return true;
  }

  /** Takes so many places, whether or not there is room. */
  hold(tenant: string, count: number): void {
    this.#held.set(tenant, (this.#held.get(tenant) ?? 0) + count);
    this.#taken += count;
  }

  release(tenant: string): void {
    const held = (this.#held.get(tenant) as number) - 1;
    if (held === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, held);
    this.#taken--;
  }

  /** Frees all places. */
  clear(): void {
    this.#held.clear();
    this.#taken = 0;
  }
}
