import { BILLING_CLAIM_MS } from "../../domain/limits.ts";
import type { Checkout } from "./checkout-parameters.ts";
import { type Provider, ProviderError } from "./provider-error.ts";
import type { Session } from "./session.ts";
import type { BillingStore, StoredSession } from "./store.ts";

const BILLING_CLAIM_POLL_MS = 100;
/** Earlier sessions of an account that are checked for a customer. */
const BILLING_EARLIER_SESSIONS_MAX = 3;

/** Opens checkout sessions, at most one open session per upgrade of an account. */
export class CheckoutSessions {
  constructor(
    private readonly provider: Provider,
    private readonly store: BillingStore,
  ) {}

  /**
   * Returns the open session of the upgrade, or opens one. Throws a ProviderError when the provider opens none, or when
   * `deadline` (of `performance.now()`) passes during the wait for another request.
   */
  async findOrOpen(accountId: string, checkout: Checkout, deadline: number): Promise<Session> {
    const key = { accountId, fingerprint: checkout.fingerprint };
    while (performance.now() < deadline) {
      const stored = await this.store.session(key);
      const open = stored && (await this.#openSession(accountId, stored));
      if (open === "unknown") await this.store.resetSession(key);
      else if (open !== null) return open;
      const attempt = await this.store.claim(key, BILLING_CLAIM_MS);
      if (attempt !== null) return await this.#attempt(accountId, checkout, attempt);
      // Another request is opening a session for the same upgrade. Wait for it.
      await Bun.sleep(BILLING_CLAIM_POLL_MS);
    }
    throw new ProviderError("another request for the same upgrade has not finished yet");
  }

  /**
   * The stored session if it is still open at the provider; `unknown` if the provider does not
   * answer and the session has not expired. A session that is over is deleted, and its customer is
   * saved.
   */
  async #openSession(
    accountId: string,
    stored: StoredSession,
  ): Promise<Session | "unknown" | null> {
    const current = await this.provider.retrieveSession(stored.id);
    if (current === "unknown") {
      if (stored.expiresAt.getTime() > Date.now()) return "unknown";
    } else if (current !== null) {
      await this.#saveCustomer(accountId, current);
      if (current.isOpen) return { ...current, url: current.url ?? stored.url };
    }
    await this.store.deleteSession(accountId, stored.id);
    return null;
  }

  async #attempt(accountId: string, checkout: Checkout, attempt: string): Promise<Session> {
    const key = { accountId, fingerprint: checkout.fingerprint };
    try {
      const session = await this.#create(accountId, checkout, attempt);
      await this.#saveCustomer(accountId, session);
      await this.store.saveSession(key, attempt, session);
      return (await this.store.session(key)) ?? session;
    } catch (error) {
      // The provider replays an error for the same idempotency key, so after an error the next
      // attempt needs a new key. When the outcome is unknown, repeating the key prevents a second
      // session.
      const isDefinite = error instanceof ProviderError && error.answered;
      const end = isDefinite ? this.store.abandon(key, attempt) : this.store.release(key, attempt);
      // If the database is unreachable, the claim expires by itself.
      await end.catch(() => {});
      throw error;
    }
  }

  async #create(accountId: string, { parameters }: Checkout, attempt: string): Promise<Session> {
    const customer = await this.#findCustomer(accountId);
    if (customer === null) return await this.provider.openSession(parameters, attempt);
    try {
      return await this.provider.openSession({ ...parameters, customer }, `${attempt}-${customer}`);
    } catch (error) {
      const isCustomerMissing =
        error instanceof ProviderError &&
        error.code === "resource_missing" &&
        error.param === "customer";
      if (!isCustomerMissing) throw error;
      await this.store.deleteCustomer(accountId, customer);
      return await this.provider.openSession(parameters, attempt);
    }
  }

  /** The account's customer. If none is stored, earlier sessions are checked for one. */
  async #findCustomer(accountId: string): Promise<string | null> {
    const stored = await this.store.customer(accountId);
    if (stored !== null) return stored;
    const earlier = await this.store.sessions(accountId, BILLING_EARLIER_SESSIONS_MAX);
    if (earlier.length === 0) return null;
    await Promise.all(earlier.map((session) => this.#openSession(accountId, session)));
    return await this.store.customer(accountId);
  }

  async #saveCustomer(accountId: string, { customerId }: Session): Promise<void> {
    if (customerId !== null) await this.store.saveCustomer(accountId, customerId);
  }
}
