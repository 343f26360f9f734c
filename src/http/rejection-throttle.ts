import { OVERLOADED, problemBody } from "../domain/problem/problem.ts";
import type { Log } from "../ops/observability/log.ts";
import { FairSemaphore } from "../ops/tenants/fair-semaphore.ts";
import { logRefusal, problemHeaders } from "./respond.ts";

/** Beyond this many waiting refusals, all are sent at once. */
const REFUSALS_WAITING_MAX = 8_192;
/** Clients that retry at once are refused after a pause, which slows them down. */
const REFUSAL_PAUSE_MS = 1_000;
/** How often refusals are sent that are due. */
const REFUSAL_TICK_MS = 20;
/** How many are sent at a time: 2,000 per second take less than a tenth of a processor. */
const REFUSALS_PER_TICK = 40;

/** Replaced by the id of each request. It needs no escaping, as request ids do not. */
const PLACEHOLDER = "request-id";

interface ThrottleOptions {
  readonly pauseMs?: number;
  readonly maxWaiting?: number;
  readonly perTick?: number;
}

/**
 * Answers requests that are refused as overloaded. Under overload most requests are refused, so a
 * refusal has to cost next to nothing: the document is made once, and only a sample is logged.
 *
 * Clients that retry at once, without regard to Retry-After, would keep the service busy with
 * refusing them. So a further refusal of a tenant on a connection waits before it is sent, and those that wait are
 * sent at a bounded rate, in turns of the tenants: the more connections of a tenant retry, the longer each of them
 * waits for its turn, and sends nothing meanwhile. Behind a proxy, tenants share connections and do not wait for
 * each other's retries. A refusal of a request that came together with the one before does not wait:
 * Bun closes a connection on which a request arrives while another waits for its answer.
 */
export class RejectionThrottle {
  readonly #before: string;
  readonly #after: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #pauseMs: number;
  readonly #maxWaiting: number;
  /** For those that have waited and are due. */
  readonly #due: FairSemaphore;
  #waiting = 0;
  /** When the last refusal of a tenant on a connection was sent, the latest at the end. */
  readonly #sentAt = new Map<string, number>();
  /** The connections of this turn of the event loop. */
  readonly #thisTurn = new Set<string>();

  /** @param connectionOf names the connection of a request; "" for a request that came over none */
  constructor(
    baseUrl: string,
    private readonly log: Log,
    private readonly connectionOf: (request: Request) => string,
    { pauseMs, maxWaiting, perTick = REFUSALS_PER_TICK }: ThrottleOptions = {},
  ) {
    const text = JSON.stringify(problemBody(OVERLOADED, baseUrl, PLACEHOLDER));
    [this.#before, this.#after] = text.split(PLACEHOLDER) as [string, string];
    this.#headers = problemHeaders(OVERLOADED, "");
    this.#pauseMs = pauseMs ?? REFUSAL_PAUSE_MS;
    this.#maxWaiting = maxWaiting ?? REFUSALS_WAITING_MAX;
    this.#due = new FairSemaphore({
      permits: perTick,
      tenantPermits: perTick,
      maxWaiting: this.#maxWaiting,
      freeAfterMs: REFUSAL_TICK_MS,
    });
  }

  /**
   * The response to a refused request, possibly after a pause.
   * @param tenant who retries, if that is known
   * @param own makes the response of a refusal that has a reason of its own, and logs it
   */
  async respond(
    requestId: string,
    request: Request,
    tenant = "",
    own?: () => Response,
  ): Promise<Response> {
    if (own === undefined) logRefusal(this.log, requestId);
    const respond = own ?? (() => this.#response(requestId));
    const connection = this.connectionOf(request);
    if (connection === "") return respond();
    const client = `${tenant} ${connection}`;
    const waits = this.#mustWait(client, connection);
    if (this.#thisTurn.size === 0) setImmediate(() => this.#endTurn());
    this.#thisTurn.add(connection);
    if (waits) await this.#wait(tenant);
    this.#sentAt.delete(client);
    this.#sentAt.set(client, performance.now());
    return respond();
  }

  /** True when the tenant has not waited on the connection since its last refusal there. */
  #mustWait(client: string, connection: string): boolean {
    const sentAt = this.#sentAt.get(client);
    if (sentAt === undefined || performance.now() - sentAt >= this.#pauseMs) return false;
    return !this.#thisTurn.has(connection) && this.#waiting < this.#maxWaiting;
  }

  async #wait(tenant: string): Promise<void> {
    this.#waiting++;
    await Bun.sleep(this.#pauseMs);
    await this.#due.acquire(tenant);
    this.#waiting--;
  }

  #endTurn(): void {
    this.#thisTurn.clear();
    const oldest = performance.now() - this.#pauseMs;
    for (const [client, sentAt] of this.#sentAt) {
      if (sentAt > oldest) return;
      this.#sentAt.delete(client);
    }
  }

  #response(requestId: string): Response {
    return new Response(`${this.#before}${requestId}${this.#after}`, {
      status: OVERLOADED.type.status,
      headers: { ...this.#headers, "x-request-id": requestId },
    });
  }
}
