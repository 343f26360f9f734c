import { base64Of } from "../../src/domain/vector.ts";
import type { Address } from "./server.ts";

/** Objects are sent as JSON. */
type Body = string | Uint8Array<ArrayBuffer> | object;
type Headers = Readonly<Record<string, string>>;

/** A ready-made request, as the bytes that go over the connection. */
export function rawRequest(
  server: Pick<Address, "url">,
  method: string,
  path: string,
  headers: Headers,
  body: Uint8Array | string = "",
): Uint8Array {
  const bytes = Buffer.from(body);
  const length = bytes.length === 0 ? {} : { "content-length": String(bytes.length) };
  const lines = Object.entries({ host: server.url.host, ...headers, ...length }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** A ready-made request with a key and a body. */
export function keyedRequest(
  server: Pick<Address, "url">,
  method: "POST" | "PUT",
  path: string,
  key: string,
  body: Uint8Array | string,
  type = "application/json",
): Uint8Array {
  return rawRequest(server, method, path, { "x-api-key": key, "content-type": type }, body);
}

/** How a search body has its vector. */
export const FORMS = ["array", "base64", "octets"] as const;
export type Form = (typeof FORMS)[number];

/** The body of a search as JSON. The threshold is 0, so that low scores are found, too. */
export function jsonBody(
  vector: Float32Array<ArrayBuffer>,
  limit?: number,
  form: "array" | "base64" = "base64",
): string {
  const value = form === "array" ? Array.from(vector) : base64Of(vector);
  return JSON.stringify({ vector: value, dimension: vector.length, limit, threshold: 0 });
}

/** A ready-made search, for as many results as are usual unless `limit` says how many. */
export function searchRequest(
  server: Pick<Address, "url">,
  path: string,
  key: string,
  vector: Float32Array<ArrayBuffer>,
  { form = "base64", limit }: { readonly form?: Form; readonly limit?: number } = {},
): Uint8Array {
  if (form !== "octets") {
    return keyedRequest(server, "POST", path, key, jsonBody(vector, limit, form));
  }
  const wanted = limit === undefined ? "" : `&limit=${limit}`;
  const target = `${path}?dimension=${vector.length}&threshold=0${wanted}`;
  const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  return keyedRequest(server, "POST", target, key, bytes, "application/octet-stream");
}

/** Calls operations of a service as the user of a key. */
export class Api {
  constructor(
    readonly url: URL,
    readonly key: string,
  ) {}

  /** The answer, whatever its status is. */
  async send(
    method: string,
    path: string,
    body?: Body,
    type = "application/json",
  ): Promise<Response> {
    const headers = { "x-api-key": this.key, "content-type": type };
    const isText = typeof body === "string" || body instanceof Uint8Array;
    const sent = isText || body === undefined ? body : JSON.stringify(body);
    const init = { method, headers, ...(sent === undefined ? {} : { body: sent }) };
    const ask = () => fetch(new URL(path, this.url), init);
    // The service closes connections that nobody has used for a while, also at the moment when one is used again.
    return await ask().catch(ask);
  }

  /** The document of an answer; throws an error unless it is a success. */
  async call<T>(...request: Parameters<Api["send"]>): Promise<T> {
    const response = await this.send(...request);
    const text = await response.text();
    if (!response.ok) throw new Error(`${request[1]}: ${response.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }
}
