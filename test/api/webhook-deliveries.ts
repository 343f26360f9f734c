import type { TestApi } from "../../support/api/api.ts";
import type { TestWebhook } from "../../support/webhooks.ts";

export const JSON_HEADERS = { "content-type": "application/json" };

/** Headers of a JSON delivery with an idempotency key. */
export const keyed = (key: string) => ({ ...JSON_HEADERS, "idempotency-key": key });

/** Returns a function that sends deliveries with the webhook's secret, by default as JSON. */
export function deliveriesThrough(api: TestApi) {
  return (
    to: TestWebhook,
    body?: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = JSON_HEADERS,
  ) => {
    const sent = { ...to.headers, ...headers };
    return api.send("POST", to.path, { headers: sent, ...(body === undefined ? {} : { body }) });
  };
}
