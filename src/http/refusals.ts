import type { Log } from "../observability/log.ts";
import { OVERLOADED, problemBody } from "../problem/problem.ts";
import {
  REFUSAL_PAUSE_MS,
  REFUSAL_TICK_MS,
  REFUSALS_AT_ONCE,
  REFUSALS_WAITING_MAX,
} from "../shared/limits.ts";
import { logRefusal, problemHeaders } from "./respond.ts";

/** Replaced by the id of each request. It needs no escaping, as request ids do not. */
const PLACEHOLDER = "request-id";

interface Waiting {
  readonly send: () => void;
  readonly due: number;
}

interface RefusalOptions {
  readonly pauseMs?: number;
  readonly atOnce?: number;
  readonly maxWaiting?: number;
}

/**
 * Answers requests that are refused as overloaded. Under overload most requests are refused, so a
 * refusal has to cost next to nothing: the document is made once, and only a sample is logged.
 *
 * Clients that retry at once, without regard to Retry-After, would keep the service busy with
 * refusing them. So when there are many refusals, most wait before they are sent.
 */
export class Refusals {
  readonly #before: string;
  readonly #after: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #pauseMs: number;
  readonly #atOnce: number;
  readonly #maxWaiting: number;
  /** Refusals that wait, the oldest first. */
  readonly #waiting: Waiting[] = [];
  #windowEnd = 0;
  #sentAtOnce = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    baseUrl: string,
    private readonly log: Log,
    { pauseMs, atOnce, maxWaiting }: RefusalOptions = {},
  ) {
    const text = JSON.stringify(problemBody(OVERLOADED, baseUrl, PLACEHOLDER));
    [this.#before, this.#after] = text.split(PLACEHOLDER) as [string, string];
    this.#headers = problemHeaders(OVERLOADED, "");
    this.#pauseMs = pauseMs ?? REFUSAL_PAUSE_MS;
    this.#atOnce = atOnce ?? REFUSALS_AT_ONCE;
    this.#maxWaiting = maxWaiting ?? REFUSALS_WAITING_MAX;
  }

  /** The response to a refused request, possibly after a pause. */
  respond(requestId: string): Response | Promise<Response> {
    logRefusal(this.log, requestId);
    const pause = this.#pause();
    return pause === undefined
      ? this.#response(requestId)
      : pause.then(() => this.#response(requestId));
  }

  /** Undefined when a refusal may be sent at once, or else a promise for the time to send it. */
  #pause(): Promise<void> | undefined {
    const now = performance.now();
    if (now >= this.#windowEnd) {
      this.#windowEnd = now + this.#pauseMs;
      this.#sentAtOnce = 0;
    }
    if (this.#sentAtOnce < this.#atOnce) {
      this.#sentAtOnce++;
      return undefined;
    }
    if (this.#waiting.length >= this.#maxWaiting) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ send: resolve, due: now + this.#pauseMs });
    this.#timer ??= setInterval(() => this.#tick(), REFUSAL_TICK_MS);
    return promise;
  }

  #tick(): void {
    const now = performance.now();
    const later = this.#waiting.findIndex(({ due }) => due > now);
    const due = this.#waiting.splice(0, later < 0 ? this.#waiting.length : later);
    if (this.#waiting.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const { send } of due) send();
  }

  #response(requestId: string): Response {
    return new Response(`${this.#before}${requestId}${this.#after}`, {
      status: OVERLOADED.type.status,
      headers: { ...this.#headers, "x-request-id": requestId },
    });
  }
}
