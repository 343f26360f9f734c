import { tracedFetch } from "../../observability/tracing.ts";
import { boundedFetch } from "../../shared/bounded-fetch.ts";

const BILLING_ANSWER_MAX_BYTES = 1_048_576;
/** Response headers that the SDK acts on. All others are removed, so that none reaches its logs. */
const FORWARDED_HEADERS = ["request-id", "stripe-should-retry"];
/** Replaces statuses that the API never sends: redirects, and statuses without a body. */
const BAD_GATEWAY = 502;

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * `fetch` for the provider's SDK, which passes on only responses that the SDK can handle. Without
 * it, a JSON response that is not an object leaves the SDK's promise pending and ends the process
 * with an unhandled rejection; responses of any length are read; and a redirect is followed with
 * the secret key.
 */
export async function guardedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await boundedFetch(url, init, BILLING_ANSWER_MAX_BYTES, tracedFetch);
  const text = await response.text();
  const { status } = response;
  const usable = status === 200 || status === 201 || status >= 400;
  const headers = new Headers();
  for (const name of FORWARDED_HEADERS) {
    const value = response.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(isJsonObject(text) ? text : "not a JSON object", {
    status: usable ? status : BAD_GATEWAY,
    headers,
  });
}
