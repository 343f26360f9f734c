import pTimeout from "p-timeout";
import { STARTING_REQUESTS_MAX } from "../domain/limits.ts";
import { Problem, problemBody } from "../domain/problem/problem.ts";
import { FairSemaphore } from "../ops/tenants/fair-semaphore.ts";
import { type Handler, requestIdOf, targetOf } from "./request.ts";
import { json, problemHeaders } from "./respond.ts";

/** While the service starts, this many requests wait for it, for this long at most. */
const STARTING_WAIT_MS = 5_000;
/** For clients that are refused until then. */
const STARTING_RETRY_AFTER_SECONDS = 1;

const STARTING: Problem = new Problem("dependency-unavailable", {
  detail: "The service is starting.",
  headers: { "retry-after": String(STARTING_RETRY_AFTER_SECONDS) },
});

/**
 * Requests that arrive before the application can answer them. They wait for it: a balancer that
 * notices failures only by its requests sends some to a node that is being restarted, and passes a
 * 503 on to its client. Probes are answered at once, so that balancers with health checks send none.
 */
export class StartupResponder {
  readonly #application = Promise.withResolvers<Handler | undefined>();
  readonly #permits = new FairSemaphore({ permits: STARTING_REQUESTS_MAX });

  constructor(
    private readonly baseUrl: string,
    private readonly waitMs = STARTING_WAIT_MS,
  ) {}

  /** Lets the application answer the requests that wait; without one, they get 503. */
  end(application?: Handler): void {
    this.#application.resolve(application);
  }

  /** @param address the peer's, by which callers without a credential are told apart */
  async answer(request: Request, address = ""): Promise<Response> {
    const { path } = targetOf(request.url);
    if (path === "/livez") return Response.json({ status: "ok" });
    if (path === "/readyz") {
      return json({ status: "not_ready", reasons: { service: "is starting" } }, 503, {
        "retry-after": String(STARTING_RETRY_AFTER_SECONDS),
      });
    }
    const application = await this.#wait(request.headers, address);
    return application === undefined ? this.#refusal(request) : await application(request);
  }

  /** The application, or undefined if it does not start in time or the caller has its share of waits. */
  async #wait(headers: Headers, address: string): Promise<Handler | undefined> {
    // Nothing can check the credential yet, but callers with different ones are different tenants.
    const tenant = headers.get("authorization") ?? headers.get("x-api-key") ?? address;
    if (!this.#permits.hasRoom(tenant)) return undefined;
    const wait = { milliseconds: this.waitMs, fallback: () => undefined };
    return await this.#permits.run(tenant, () => pTimeout(this.#application.promise, wait));
  }

  #refusal(request: Request): Response {
    const requestId = requestIdOf(request);
    return new Response(JSON.stringify(problemBody(STARTING, this.baseUrl, requestId)), {
      status: STARTING.type.status,
      headers: problemHeaders(STARTING, requestId),
    });
  }
}
