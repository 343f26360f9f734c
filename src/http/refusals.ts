import type { Log } from "../observability/log.ts";
import { OVERLOADED, problemBody } from "../problem/problem.ts";
import { logRefusal, problemHeaders } from "./respond.ts";

/** Beyond this many waiting refusals, all are sent at once. */
const REFUSALS_WAITING_MAX = 8_192;
/** Clients that retry at once are refused after a pause, which slows them down. */
const REFUSAL_PAUSE_MS = 1_000;
/** How often the refusals are sent that are due. */
const REFUSAL_TICK_MS = 20;
/** How many are sent at a time: 2,000 per second take less than a tenth of a processor. */
const REFUSALS_PER_TICK = 40;

/** Replaced by the id of each request. It needs no escaping, as request ids do not. */
const PLACEHOLDER = "request-id";

interface Waiting {
  readonly send: () => void;
  readonly connection: string;
  readonly due: number;
}

interface RefusalOptions {
  readonly pauseMs?: number;
  readonly maxWaiting?: number;
  readonly perTick?: number;
}

/**
 * Answers requests that are refused as overloaded. Under overload most requests are refused, so a
 * refusal has to cost next to nothing: the document is made once, and only a sample is logged.
 *
 * Clients that retry at once, without regard to Retry-After, would keep the service busy with
 * refusing them. So a further refusal on a connection waits before it is sent, and those that wait are
 * sent at a bounded rate: the more connections retry, the longer each of them waits for its turn, and
 * sends nothing meanwhile. A refusal of a request that came together with the one before does not wait:
 * Bun closes a connection on which a request arrives while another waits for its answer.
 */
export class Refusals {
  readonly #before: string;
  readonly #after: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #pauseMs: number;
  readonly #maxWaiting: number;
  readonly #perTick: number;
  /** Refusals that wait, the oldest first. */
  readonly #waiting: Waiting[] = [];
  /** When the last refusal of a connection was sent, the latest at the end. */
  readonly #sentAt = new Map<string, number>();
  /** The connections of this turn of the event loop. */
  readonly #thisTurn = new Set<string>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param connectionOf names the connection of a request; "" for a request that came over none */
  constructor(
    baseUrl: string,
    private readonly log: Log,
    private readonly connectionOf: (request: Request) => string,
    { pauseMs, maxWaiting, perTick }: RefusalOptions = {},
  ) {
    const text = JSON.stringify(problemBody(OVERLOADED, baseUrl, PLACEHOLDER));
    [this.#before, this.#after] = text.split(PLACEHOLDER) as [string, string];
    this.#headers = problemHeaders(OVERLOADED, "");
    this.#pauseMs = pauseMs ?? REFUSAL_PAUSE_MS;
    this.#maxWaiting = maxWaiting ?? REFUSALS_WAITING_MAX;
    this.#perTick = perTick ?? REFUSALS_PER_TICK;
  }

  /** The response to a refused request, possibly after a pause. */
  respond(requestId: string, request: Request): Response | Promise<Response> {
    logRefusal(this.log, requestId);
    const connection = this.connectionOf(request);
    if (connection === "") return this.#response(requestId);
    const waits = this.#mustWait(connection);
    if (this.#thisTurn.size === 0) setImmediate(() => this.#endTurn());
    this.#thisTurn.add(connection);
    if (!waits) {
      this.#noteSent(connection);
      return this.#response(requestId);
    }
    const { promise, resolve: send } = Promise.withResolvers<void>();
    this.#waiting.push({ send, connection, due: performance.now() + this.#pauseMs });
    this.#timer ??= setInterval(() => this.#tick(), REFUSAL_TICK_MS);
    return promise.then(() => this.#response(requestId));
  }

  /** True when the client of a connection has not waited since its last refusal. */
  #mustWait(connection: string): boolean {
    const sentAt = this.#sentAt.get(connection);
    if (sentAt === undefined || performance.now() - sentAt >= this.#pauseMs) return false;
    return !this.#thisTurn.has(connection) && this.#waiting.length < this.#maxWaiting;
  }

  #noteSent(connection: string): void {
    this.#sentAt.delete(connection);
    this.#sentAt.set(connection, performance.now());
  }

  #endTurn(): void {
    this.#thisTurn.clear();
    const oldest = performance.now() - this.#pauseMs;
    for (const [connection, sentAt] of this.#sentAt) {
      if (sentAt > oldest) return;
      this.#sentAt.delete(connection);
    }
  }

  #tick(): void {
    const now = performance.now();
    const next = this.#waiting.slice(0, this.#perTick);
    const due = next.filter((waiting) => waiting.due <= now);
    this.#waiting.splice(0, due.length);
    if (this.#waiting.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const { send, connection } of due) {
      this.#noteSent(connection);
      send();
    }
  }

  #response(requestId: string): Response {
    return new Response(`${this.#before}${requestId}${this.#after}`, {
      status: OVERLOADED.type.status,
      headers: { ...this.#headers, "x-request-id": requestId },
    });
  }
}
