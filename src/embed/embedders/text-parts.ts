import type { Passage } from "./embedder.ts";

/** The headings nearest to a chunk are embedded with it, up to this length. */
const EMBED_HEADINGS_MAX_CHARS = 2_000;
/** A text is not divided into shorter parts. */
export const EMBED_PART_MIN_CHARS = 200;

/** A text for an endpoint. If it is embedded in parts, each part begins with the head. */
export interface Text {
  readonly head: string;
  readonly body: string;
}

/** A passage as endpoints embed it. */
export function textOf({ headings, content }: Passage, prefix = ""): Text {
  const above = headings.join(" > ").slice(-EMBED_HEADINGS_MAX_CHARS).toWellFormed();
  return { head: headings.length === 0 ? prefix : `${prefix}${above}\n\n`, body: content };
}

export const whole = ({ head, body }: Text) => head + body;

export function bytesOf(text: Text): number {
  return Buffer.byteLength(JSON.stringify(whole(text))) + 1;
}

export function halfOf({ body }: Text): number {
  return Math.max(EMBED_PART_MIN_CHARS, Math.ceil(body.length / 2));
}

/** The characters that the body of a part may have, so that it fits with its head. */
export function bodyWithin({ head }: Text, maxChars: number): number {
  return Math.max(EMBED_PART_MIN_CHARS, maxChars - head.length);
}

/**
 * The next part of a text, whose body has at most this length. The remaining parts have about equal lengths, and end at
 * spaces where possible.
 */
export function partOf({ head, body }: Text, from: number, maxChars: number): Text {
  const left = body.length - from;
  const parts = Math.ceil(left / maxChars);
  if (parts <= 1) return { head, body: body.slice(from) };
  const latest = from + Math.ceil(left / parts);
  const nearest = latest - EMBED_PART_MIN_CHARS / 2;
  const space = body.slice(nearest, latest + 1).lastIndexOf(" ");
  // A surrogate pair stays whole.
  const isPair = /[\udc00-\udfff]/.test(body.charAt(latest));
  const end = space > 0 ? nearest + space : isPair ? latest - 1 : latest;
  return { head, body: body.slice(from, end) };
}

export interface EmbeddedPart {
  readonly vector: Float32Array;
  readonly chars: number;
}

/** The direction between the vectors of parts, of length 1. Longer parts count for more. */
export function meanOf(parts: readonly EmbeddedPart[]): Float32Array {
  const [{ vector: first }] = parts as [EmbeddedPart];
  if (parts.length === 1) return first;
  const sum = new Float32Array(first.length);
  for (const { vector, chars } of parts) {
    const scale = chars / lengthOf(vector);
    for (let i = 0; i < sum.length; i++)
      sum[i] = (sum[i] as number) + scale * (vector[i] as number);
  }
  const length = lengthOf(sum);
  // Opposite vectors have no mean.
  return length < Number.EPSILON ? first : sum.map((value) => value / length);
}

const lengthOf = (vector: Float32Array) => Math.hypot(...vector);
