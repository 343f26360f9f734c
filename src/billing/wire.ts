import { BILLING_ANSWER_MAX_BYTES } from "../shared/limits.ts";

/** Headers of an answer that the SDK acts on; others never reach it, nor its warnings. */
const KEPT_HEADERS = ["request-id", "stripe-should-retry"];
/** Stands for answers that no API gives: redirects, and statuses that cannot have a body. */
const BAD_GATEWAY = 502;

async function boundedText(response: Response): Promise<string> {
  if (response.body === null) return "";
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    length += part.byteLength;
    if (length > BILLING_ANSWER_MAX_BYTES) throw new Error("the answer is too long");
    parts.push(part);
  }
  return Buffer.concat(parts, length).toString("utf8");
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * `fetch` for the provider's SDK. The SDK never settles, and ends the process with an unhandled
 * rejection, when an answer is JSON but no object; it reads answers of any length; and it would
 * follow a redirect with the secret key. So only what it can digest is passed on.
 */
export async function guardedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "manual" });
  const text = await boundedText(response);
  const { status } = response;
  const usable = status === 200 || status === 201 || status >= 400;
  const headers = new Headers();
  for (const name of KEPT_HEADERS) {
    const value = response.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(isJsonObject(text) ? text : "not a JSON object", {
    status: usable ? status : BAD_GATEWAY,
    headers,
  });
}
