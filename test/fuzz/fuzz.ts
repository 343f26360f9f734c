import fc from "fast-check";
import type { Json } from "../../support/api/openapi.ts";
import { type Exchange, exchangesOf, type Operation } from "./exchanges.ts";
import type { Target } from "./target.ts";

/** 5xx that are no fault of the service here: some prices are not configured. */
const EXPECTED_FAILURES = ["billing-not-configured"];
const FAILURE = 500;

/** By operation, how often each status was answered. */
export type Statuses = Map<string, Map<number, number>>;

function describe({ method, path, caller, headers, body }: Exchange): string {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString("hex") : body;
  return `${method} ${path} by ${caller} with ${JSON.stringify(headers)}\n${text?.slice(0, 2_000)}`;
}

async function exchange({ api, callers }: Target, request: Exchange): Promise<number> {
  const { method, path, caller, headers, body } = request;
  const contract = await api.contract();
  const url = new URL(`${api.url}${path}`);
  const response = await fetch(url, {
    method,
    redirect: "manual" as const,
    headers: { ...callers[caller], ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const { status } = response;
  // The path as it is sent: dots in it are resolved before.
  const sent = `${url.pathname}${status < 300 ? "" : url.search}`;
  contract.check({ method, path: sent, status, headers: response.headers, text });
  if (status >= FAILURE && !EXPECTED_FAILURES.includes((JSON.parse(text) as Json).slug)) {
    throw new Error(`answered ${status}: ${text}`);
  }
  return status;
}

/**
 * Sends random requests to an operation. Throws with the smallest request whose answer is not
 * documented, does not match its schema, or is a failure of the service.
 */
export async function fuzzOperation(
  target: Target,
  operation: Operation,
  options: { readonly seed: number; readonly requests: number },
  statuses: Statuses,
): Promise<void> {
  const { document } = await target.api.contract();
  const counts = statuses.get(operation.id) ?? new Map<number, number>();
  statuses.set(operation.id, counts);
  await fc.assert(
    fc.asyncProperty(exchangesOf(operation, target, document), async (request) => {
      try {
        const status = await exchange(target, request);
        counts.set(status, (counts.get(status) ?? 0) + 1);
      } catch (error) {
        throw new Error(`${describe(request)}\n${(error as Error).message}`);
      }
    }),
    { numRuns: options.requests, seed: options.seed },
  );
}
