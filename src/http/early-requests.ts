import pTimeout from "p-timeout";
import {
  STARTING_REQUESTS_MAX,
  STARTING_RETRY_AFTER_SECONDS,
  STARTING_WAIT_MS,
} from "../shared/limits.ts";
import type { Handler } from "./handler.ts";
import { targetOf } from "./target.ts";

function notReady(): Response {
  const body = { status: "not_ready", reasons: { service: "is starting" } };
  return Response.json(body, {
    status: 503,
    headers: { "retry-after": String(STARTING_RETRY_AFTER_SECONDS) },
  });
}

/**
 * Requests that arrive before the application can answer them. They wait for it: a balancer that
 * notices failures only by its requests sends some to a node that is being restarted, and passes a
 * 503 on to its client. Probes are answered at once, so that balancers with health checks send none.
 */
export class EarlyRequests {
  readonly #application = Promise.withResolvers<Handler | undefined>();
  #waiting = 0;

  constructor(private readonly waitMs = STARTING_WAIT_MS) {}

  /** Lets the application answer the requests that wait; without one, they get 503. */
  end(application?: Handler): void {
    this.#application.resolve(application);
  }

  async answer(request: Request): Promise<Response> {
    const { path } = targetOf(request.url);
    if (path === "/livez") return Response.json({ status: "ok" });
    if (path === "/readyz" || this.#waiting >= STARTING_REQUESTS_MAX) return notReady();
    this.#waiting++;
    const fallback = () => undefined;
    const wait = { milliseconds: this.waitMs, fallback };
    const application = await pTimeout(this.#application.promise, wait);
    this.#waiting--;
    return application === undefined ? notReady() : await application(request);
  }
}
