import {
  BILLING_CLAIM_MS,
  BILLING_CLAIM_POLL_MS,
  BILLING_EARLIER_SESSIONS_MAX,
} from "../shared/limits.ts";
import type { Checkout } from "./checkout.ts";
import { type Provider, ProviderFailure } from "./provider.ts";
import type { Session } from "./session.ts";
import type { BillingStore, StoredSession } from "./store.ts";

/** Opens checkout sessions, one for each upgrade of an account that has none open yet. */
export class Checkouts {
  constructor(
    private readonly provider: Provider,
    private readonly store: BillingStore,
  ) {}

  /** The open session of the upgrade. Throws a ProviderFailure when there is none to be had. */
  async session(accountId: string, checkout: Checkout, deadline: number): Promise<Session> {
    const key = { accountId, fingerprint: checkout.fingerprint };
    while (performance.now() < deadline) {
      const stored = await this.store.session(key);
      const open = stored && (await this.#stillOpen(accountId, stored));
      // Repeating the attempt that opened it gets the same session again, or the provider's word.
      if (open === "doubtful") await this.store.doubt(key);
      else if (open !== null) return open;
      const attempt = await this.store.claim(key, BILLING_CLAIM_MS);
      if (attempt !== null) return await this.#attempt(accountId, checkout, attempt);
      // Somebody else asks for the same upgrade: their session is the answer.
      await Bun.sleep(BILLING_CLAIM_POLL_MS);
    }
    throw new ProviderFailure("another request for the same upgrade has not ended yet");
  }

  /**
   * The session if it can still be paid, `doubtful` when the provider cannot tell. One that is over
   * is dropped, its customer noted.
   */
  async #stillOpen(accountId: string, stored: StoredSession): Promise<Session | "doubtful" | null> {
    const seen = await this.provider.look(stored.id);
    if (seen === null) {
      if (stored.expiresAt.getTime() > Date.now()) return "doubtful";
    } else if (seen !== "gone") {
      await this.#noteCustomer(accountId, seen);
      if (seen.isOpen) return { ...seen, url: seen.url ?? stored.url };
    }
    await this.store.drop(accountId, stored.id);
    return null;
  }

  async #attempt(accountId: string, checkout: Checkout, attempt: string): Promise<Session> {
    const key = { accountId, fingerprint: checkout.fingerprint };
    try {
      const session = await this.#open(accountId, checkout, attempt);
      await this.#noteCustomer(accountId, session);
      await this.store.keep(key, attempt, session);
      return (await this.store.session(key)) ?? session;
    } catch (error) {
      // The provider repeats its error to everybody who repeats the attempt, so the next one has
      // to be new. Where the outcome is unknown, repeating is what prevents a second session.
      const isSettled = error instanceof ProviderFailure && error.answered;
      const end = isSettled ? this.store.abandon(key, attempt) : this.store.release(key, attempt);
      // Without the database the claim ends by itself.
      await end.catch(() => {});
      throw error;
    }
  }

  async #open(accountId: string, { params }: Checkout, attempt: string): Promise<Session> {
    const customer = await this.#customer(accountId);
    if (customer === null) return await this.provider.open(params, attempt);
    try {
      return await this.provider.open({ ...params, customer }, `${attempt}-${customer}`);
    } catch (error) {
      const isUnknown =
        error instanceof ProviderFailure &&
        error.code === "resource_missing" &&
        error.param === "customer";
      if (!isUnknown) throw error;
      await this.store.forgetCustomer(accountId, customer);
      return await this.provider.open(params, attempt);
    }
  }

  /** The account's customer; earlier sessions are asked for the one that their payment made. */
  async #customer(accountId: string): Promise<string | null> {
    const known = await this.store.customer(accountId);
    if (known !== null) return known;
    const earlier = await this.store.sessions(accountId, BILLING_EARLIER_SESSIONS_MAX);
    if (earlier.length === 0) return null;
    await Promise.all(earlier.map((session) => this.#stillOpen(accountId, session)));
    return await this.store.customer(accountId);
  }

  async #noteCustomer(accountId: string, { customerId }: Session): Promise<void> {
    if (customerId !== null) await this.store.noteCustomer(accountId, customerId);
  }
}
