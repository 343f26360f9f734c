/**
 * A bounded number of places that tenants share. A tenant may hold as many as are still free, so one
 * alone gets half of them, and there are always some left for another.
 */
export class FairPlaces {
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(private readonly places: number) {}

  /** True when the tenant holds less than its share. */
  hasRoom(tenant: string): boolean {
    return (this.#held.get(tenant) ?? 0) < this.places - this.#taken;
  }

  /** Takes a place. False when the tenant holds its share. */
  take(tenant: string): boolean {
    if (!this.hasRoom(tenant)) return false;
    this.#held.set(tenant, (this.#held.get(tenant) ?? 0) + 1);
    this.#taken++;
    return true;
  }

  release(tenant: string): void {
    const held = (this.#held.get(tenant) as number) - 1;
    if (held === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, held);
    this.#taken--;
  }
}
