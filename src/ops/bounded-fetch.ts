type Send = (url: string, init: RequestInit) => Promise<Response>;

/** Statuses whose responses have no body. */
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/**
 * `fetch` for every call of another service, whose answers are not trusted. Redirects are not followed, because they
 * could lead to this machine or its network, and would take the request along. The body is read to its end, up to
 * `maxBytes` after decompression. A longer body rejects; `init.signal` bounds the time of the body, too.
 */
export async function boundedFetch(
  url: string,
  init: RequestInit,
  maxBytes: number,
  send: Send = fetch,
): Promise<Response> {
  const response = await send(url, { ...init, redirect: "manual" });
  const bytes = await boundedBody(response, maxBytes);
  const { status, statusText, headers } = response;
  const body = WITHOUT_BODY.has(status) ? null : bytes;
  return new Response(body, { status, statusText, headers });
}

async function boundedBody(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += piece.byteLength;
    if (length > maxBytes) throw new AnswerTooLong(response.status);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}

export class AnswerTooLong extends Error {
  override readonly name = "AnswerTooLong";
  constructor(readonly status: number) {
    super("the answer is too long");
  }
}
