import { FairSemaphore } from "../ops/tenants/fair-semaphore.ts";

/** Beyond this many waiting refusals, all are sent at once. */
const REFUSALS_WAITING_MAX = 8_192;
/** Clients that retry at once are refused after a pause, which slows them down. */
const REFUSAL_PAUSE_MS = 1_000;
/** How often refusals are sent that are due. */
const REFUSAL_TICK_MS = 20;
/** How many are sent at a time: 2,000 per second take less than a tenth of a processor. */
const REFUSALS_PER_TICK = 40;

/**
 * Slows down clients that are refused as overloaded and retry at once, without regard to Retry-After: refusing them
 * would keep the service busy. So a further refusal of a tenant on a connection waits before it is sent, and those that
 * wait are sent at a bounded rate, in turns of the tenants: the more connections of a tenant retry, the longer each of
 * them waits for its turn, and sends nothing meanwhile. Behind a proxy, tenants share connections and do not wait for
 * each other's retries. A refusal of a request that came together with the one before does not wait: Bun closes a
 * connection on which a request arrives while another waits for its answer.
 */
export class RejectionThrottle {
  /** For those that have waited and are due. */
  readonly #due: FairSemaphore;
  #waiting = 0;
  /** When the last refusal of a tenant on a connection was sent, the latest at the end. */
  readonly #sentAt = new Map<string, number>();
  /** The connections of this turn of the event loop. */
  readonly #thisTurn = new Set<string>();

  /** @param connectionOf names the connection of a request; "" for a request that came over none */
  constructor(
    private readonly connectionOf: (request: Request) => string,
    private readonly pauseMs = REFUSAL_PAUSE_MS,
    private readonly maxWaiting = REFUSALS_WAITING_MAX,
    perTick = REFUSALS_PER_TICK,
  ) {
    this.#due = new FairSemaphore({
      permits: perTick,
      tenantPermits: perTick,
      maxWaiting,
      freeAfterMs: REFUSAL_TICK_MS,
    });
  }

  /**
   * Resolves when the refusal of a request may be sent.
   * @param tenant who retries, if that is known
   */
  async pace(request: Request, tenant = ""): Promise<void> {
    const connection = this.connectionOf(request);
    if (connection === "") return;
    const client = `${tenant} ${connection}`;
    const waits = this.#mustWait(client, connection);
    if (this.#thisTurn.size === 0) setImmediate(() => this.#endTurn());
    this.#thisTurn.add(connection);
    if (waits) await this.#wait(tenant);
    this.#sentAt.delete(client);
    this.#sentAt.set(client, performance.now());
  }

  /** True when the tenant has not waited on the connection since its last refusal there. */
  #mustWait(client: string, connection: string): boolean {
    const sentAt = this.#sentAt.get(client);
    if (sentAt === undefined || performance.now() - sentAt >= this.pauseMs) return false;
    return !this.#thisTurn.has(connection) && this.#waiting < this.maxWaiting;
  }

  async #wait(tenant: string): Promise<void> {
    this.#waiting++;
    await Bun.sleep(this.pauseMs);
    await this.#due.acquire(tenant);
    this.#waiting--;
  }

  #endTurn(): void {
    this.#thisTurn.clear();
    const oldest = performance.now() - this.pauseMs;
    for (const [client, sentAt] of this.#sentAt) {
      if (sentAt > oldest) return;
      this.#sentAt.delete(client);
    }
  }
}
