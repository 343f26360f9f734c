/** Bytes whose memory may be transferred. Only this file makes a value of the type, and only from new memory. */

declare const OWNED: unique symbol;

/**
 * Bytes that fill a buffer without other references: their holder may free it or transfer it to another thread. A part
 * of them (`subarray`) does not have this type, because it shares the buffer.
 */
export type OwnedBytes = Uint8Array<ArrayBuffer> & { readonly [OWNED]: true };

/** A copy of these parts, one after the other. */
export function joined(parts: readonly Uint8Array[]): OwnedBytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole as OwnedBytes;
}

const encoder = new TextEncoder();

/** A text in UTF-8. */
export function encoded(text: string): OwnedBytes {
  return encoder.encode(text) as OwnedBytes;
}

/** The body of a request, which the runtime collects in new memory. */
export function bodyOf(request: Request): Promise<OwnedBytes> {
  return request.arrayBuffer().then((buffer) => new Uint8Array(buffer) as OwnedBytes);
}
