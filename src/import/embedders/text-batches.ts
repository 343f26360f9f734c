import type { Passage } from "./embedder.ts";

/** Texts of one request unless an embedder is configured with another number. */
export const EMBED_BATCH_INPUTS = 64;
/** Bytes of the texts of one request as JSON. What else a request has fits in the rest of 1 MiB. */
const EMBED_BATCH_BYTES = 1_000_000;
/** The headings nearest to a chunk are embedded with it, up to this length. */
const EMBED_HEADINGS_MAX_CHARS = 2_000;
/** A text is divided into parts of at least this length. */
const EMBED_PART_MIN_CHARS = 200;
/** The timeout of a request with a part of the texts of one that took too long. */
const EMBED_PART_TIMEOUT_MS = 2_000;

/** A text for an endpoint. If it is embedded in parts, each part begins with the head. */
interface Text {
  readonly head: string;
  readonly body: string;
}

interface EmbeddedText {
  readonly vector: Float32Array;
  /** 1, or the number of parts whose mean the vector is, because the whole was refused. */
  readonly parts: number;
}

/** The endpoint embeds other texts, but not this one. */
interface FailedText {
  readonly reason: string;
}

export type Outcome = EmbeddedText | FailedText;

/** Called with outcomes as soon as they are known, and the position of the first of them. */
export type OnOutcomes = (from: number, outcomes: readonly Outcome[]) => Promise<void> | void;

/** A request failed because of the texts that it had: the endpoint answers others. */
export class TextsAtFault extends Error {
  constructor(
    message: string,
    /** `refused` and `failed` texts may succeed in parts. */
    readonly kind: "refused" | "failed" | "slow" | "nonsense",
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Embeds texts with one request. Throws TextsAtFault, or any other error if the endpoint is at fault. */
type SendTexts = (
  inputs: readonly string[],
  timeoutMs: number | undefined,
) => Promise<Float32Array[]>;

/** A passage as endpoints embed it. */
function textOf({ headings, content }: Passage, prefix = ""): Text {
  const above = headings.join(" > ").slice(-EMBED_HEADINGS_MAX_CHARS).toWellFormed();
  return { head: headings.length === 0 ? prefix : `${prefix}${above}\n\n`, body: content };
}

/** The result of requests for some texts: the largest that succeeded, and whether none had to be given up. */
interface Result {
  readonly largest: number;
  readonly complete: boolean;
}

interface Work {
  readonly texts: readonly Text[];
  readonly timeoutMs: number | undefined;
  readonly onOutcomes: OnOutcomes;
}

/**
 * Embeds any number of texts with requests that an endpoint takes. A request that fails because of its texts
 * is repeated with each half of them, until single texts are left, which have failed or are embedded in parts.
 */
export class TextBatches {
  /** The most texts that a request may have. It shrinks to what the endpoint is found to take. */
  #maxInputs: number;
  /** The most texts that the endpoint embeds in time. It grows again with each answer. */
  #inputsInTime: number;

  constructor(
    private readonly send: SendTexts,
    maxInputs = EMBED_BATCH_INPUTS,
  ) {
    this.#maxInputs = maxInputs;
    this.#inputsInTime = maxInputs;
  }

  get maxInputs(): number {
    return this.#maxInputs;
  }

  /** The outcomes in the order of the passages. */
  async embed(
    passages: readonly Passage[],
    {
      prefix = "",
      timeoutMs,
      onOutcomes,
    }: { prefix?: string; timeoutMs?: number; onOutcomes?: OnOutcomes | undefined },
  ): Promise<Outcome[]> {
    const texts = passages.map((passage) => textOf(passage, prefix));
    const all = new Array<Outcome>(texts.length);
    const keep: OnOutcomes = async (from, outcomes) => {
      outcomes.forEach((outcome, i) => {
        all[from + i] = outcome;
      });
      await onOutcomes?.(from, outcomes);
    };
    for (let at = 0; at < texts.length; ) {
      const end = this.#endOfBatch(texts, at);
      await this.#embedRange({ texts, timeoutMs, onOutcomes: keep }, at, end);
      at = end;
    }
    return all;
  }

  #endOfBatch(texts: readonly Text[], from: number): number {
    const most = Math.min(texts.length, from + Math.min(this.#maxInputs, this.#inputsInTime));
    let bytes = 0;
    let end = from;
    while (end < most) {
      bytes += bytesOf(texts[end] as Text);
      if (bytes > EMBED_BATCH_BYTES && end > from) break;
      end++;
    }
    return end;
  }

  async #embedRange(
    work: Work,
    from: number,
    to: number,
    timeoutMs = work.timeoutMs,
  ): Promise<Result> {
    const size = to - from;
    if (size === 1) return await this.#embedOne(work, from);
    // What was found out about the first half holds for the second.
    if (size > this.#maxInputs) return await this.#embedHalves(work, from, to, timeoutMs);
    try {
      const vectors = await this.send(work.texts.slice(from, to).map(whole), timeoutMs);
      await work.onOutcomes(
        from,
        vectors.map((vector) => ({ vector, parts: 1 })),
      );
      this.#inputsInTime = Math.min(this.#maxInputs, Math.max(this.#inputsInTime, size * 2));
      return { largest: size, complete: true };
    } catch (error) {
      if (!(error instanceof TextsAtFault)) throw error;
      const isSlow = error.kind === "slow";
      if (isSlow) this.#inputsInTime = Math.ceil(size / 2);
      const result = await this.#embedHalves(
        work,
        from,
        to,
        isSlow ? EMBED_PART_TIMEOUT_MS : timeoutMs,
      );
      // All of these texts are taken, only not at once.
      if (error.kind === "refused" && result.complete) {
        this.#maxInputs = Math.min(this.#maxInputs, result.largest);
      }
      return result;
    }
  }

  async #embedHalves(
    work: Work,
    from: number,
    to: number,
    timeoutMs: number | undefined,
  ): Promise<Result> {
    const middle = from + Math.ceil((to - from) / 2);
    const first = await this.#embedRange(work, from, middle, timeoutMs);
    const second = await this.#embedRange(work, middle, to, timeoutMs);
    return {
      largest: Math.max(first.largest, second.largest),
      complete: first.complete && second.complete,
    };
  }

  async #embedOne({ texts, timeoutMs, onOutcomes }: Work, at: number): Promise<Result> {
    const text = texts[at] as Text;
    try {
      const outcome = await this.#embedText(text, timeoutMs);
      await onOutcomes(at, [outcome]);
      return { largest: 1, complete: outcome.parts === 1 };
    } catch (error) {
      if (!(error instanceof TextsAtFault)) throw error;
      await onOutcomes(at, [{ reason: error.message }]);
      return { largest: 0, complete: false };
    }
  }

  /** Embeds a text, or the halves of one that is refused as a whole, as those beyond a model's context are. */
  async #embedText(text: Text, timeoutMs: number | undefined): Promise<EmbeddedText> {
    const halves = halvesOf(text);
    try {
      if (halves === undefined || bytesOf(text) <= EMBED_BATCH_BYTES) {
        const [vector] = await this.send([whole(text)], timeoutMs);
        return { vector: vector as Float32Array, parts: 1 };
      }
    } catch (error) {
      const isDivisible =
        error instanceof TextsAtFault && (error.kind === "refused" || error.kind === "failed");
      if (!isDivisible || halves === undefined) throw error;
    }
    const [first, second] = halves as [Text, Text];
    const [a, b] = [
      await this.#embedText(first, timeoutMs),
      await this.#embedText(second, timeoutMs),
    ];
    return { vector: meanOf(a.vector, b.vector), parts: a.parts + b.parts };
  }
}

const whole = ({ head, body }: Text) => head + body;

function bytesOf(text: Text): number {
  return Buffer.byteLength(JSON.stringify(whole(text))) + 1;
}

/** The text divided at the space nearest to its middle; undefined if it is short. */
function halvesOf({ head, body }: Text): [Text, Text] | undefined {
  const middle = Math.floor(body.length / 2);
  if (middle < EMBED_PART_MIN_CHARS) return undefined;
  const space = body.lastIndexOf(" ", middle);
  const isNear = space > middle - EMBED_PART_MIN_CHARS / 2;
  // A surrogate pair stays whole.
  const isPair = /[\udc00-\udfff]/.test(body.charAt(middle));
  const at = isNear ? space : isPair ? middle + 1 : middle;
  return [
    { head, body: body.slice(0, at) },
    { head, body: body.slice(at) },
  ];
}

/** The direction between two vectors, of length 1. */
function meanOf(a: Float32Array, b: Float32Array): Float32Array {
  const [lengthA, lengthB] = [lengthOf(a), lengthOf(b)];
  const sum = a.map((value, i) => value / lengthA + (b[i] as number) / lengthB);
  const length = lengthOf(sum);
  // Opposite vectors have no mean.
  return length < Number.EPSILON ? a : sum.map((value) => value / length);
}

const lengthOf = (vector: Float32Array) => Math.hypot(...vector);
