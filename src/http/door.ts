import type { Authenticator } from "../auth/authenticator.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Handler } from "./handler.ts";
import type { Refusals } from "./refusals.ts";
import { requestIdOf } from "./request-id.ts";
import { recordRequest } from "./request-record.ts";
import { targetOf } from "./target.ts";

/** Knows which requests would be refused as overloaded, before they are read. */
interface Gatekeeper {
  /** False as long as nobody has to be refused. */
  readonly isFull: boolean;
  /** True when a request of the tenant would be refused now. */
  refuses(tenant: string): boolean;
}

interface DoorContext {
  readonly authenticator: Authenticator;
  readonly refusals: Refusals;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly config: { readonly slowRequestMs: number };
}

/** Parameters of searches that compare everything. */
const EXACT_SEARCH = /[?&](?:effort|count)=/;
const RELEASE_SEARCH = /\/releases\/[^/]+\/search$/;

/**
 * The operation of a vector search; undefined for other requests, and for searches that compare
 * everything, which have their own queue.
 */
function searchOf({ method, url }: Request): string | undefined {
  if (method !== "POST") return undefined;
  const { path, target } = targetOf(url);
  if (!path.endsWith("/search") || EXACT_SEARCH.test(target)) return undefined;
  return RELEASE_SEARCH.test(path) ? "searchRelease" : "searchEnvironment";
}

/**
 * Refuses searches at the door while the queue of searches is full. A search that is refused behind
 * the router, after its body was read, costs two to three times as much, and under overload most of
 * the work is refusing. A refusal reveals nothing, so it is enough that the credential was valid when
 * it was last looked up: in turns of the event loop that last longer than credentials are cached, all
 * of them would have to be looked up again. An unknown one enters, and the operation looks it up.
 */
export function withDoor(gate: Gatekeeper, context: DoorContext, handler: Handler): Handler {
  const { authenticator, refusals, metrics } = context;

  async function refuse(request: Request, operation: string, userId: string): Promise<Response> {
    const startedAt = performance.now();
    metrics.overloaded.inc();
    const requestId = requestIdOf(request);
    const response = await refusals.respond(requestId);
    const milliseconds = performance.now() - startedAt;
    const { status } = response;
    recordRequest(context, { requestId, operation, status, milliseconds, userId, refused: true });
    return response;
  }

  return (request) => {
    const operation = gate.isFull ? searchOf(request) : undefined;
    if (operation === undefined) return handler(request);
    const tenant = authenticator.knownUser(request.headers);
    if (tenant === undefined || !gate.refuses(tenant)) return handler(request);
    return refuse(request, operation, tenant);
  };
}
