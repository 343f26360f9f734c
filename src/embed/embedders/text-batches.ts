import type { Passage } from "./embedder.ts";
import {
  bodyWithin,
  bytesOf,
  EMBED_PART_MIN_CHARS,
  type EmbeddedPart,
  halfOf,
  meanOf,
  partOf,
  type Text,
  textOf,
  whole,
} from "./text-parts.ts";

/** Texts of one request unless an embedder is configured with another number. */
export const EMBED_BATCH_INPUTS = 64;
/** Maximum bytes of the texts of one request as JSON. The other members of the request fit in the rest of 1 MiB. */
const EMBED_BATCH_BYTES = 1_000_000;
/** Texts that an endpoint takes in requests of the largest size before a larger one is tried; doubled by each refusal. */
const GROW_AFTER_TEXTS = 128;
const GROW_AFTER_MAX_TEXTS = 16_384;
/** The timeout of a request with a part of the texts of one that took too long. */
const EMBED_PART_TIMEOUT_MS = 2_000;

interface EmbeddedText {
  readonly vector: Float32Array;
  /** The number of parts whose mean is the vector; 1 for a text that was embedded as a whole. */
  readonly parts: number;
}

/** The endpoint embeds other texts, but not this one. */
interface FailedText {
  readonly reason: string;
}

export type Outcome = EmbeddedText | FailedText;

/** Called with outcomes as soon as they are known, and the position of the first of them. */
export type OnOutcomes = (from: number, outcomes: readonly Outcome[]) => Promise<void> | void;

/** Maximum characters of the texts that are too long, by their position in the request. */
export type FittingChars = ReadonlyMap<number, number>;
const UNKNOWN: FittingChars = new Map();

/** A request failed because of its texts: the endpoint embeds others. */
export class TextsAtFault extends Error {
  /** Empty if the endpoint does not say which texts are too long. */
  readonly fits: FittingChars;

  constructor(
    message: string,
    /** `refused` and `failed` texts may succeed in parts. */
    readonly kind: "refused" | "failed" | "slow" | "nonsense",
    { cause, fits = UNKNOWN }: { cause?: unknown; fits?: FittingChars | undefined } = {},
  ) {
    super(message, { cause });
    this.fits = fits;
  }
}

/** Embeds texts with one request. Throws TextsAtFault, or any other error if the endpoint is at fault. */
type SendTexts = (
  inputs: readonly string[],
  timeoutMs: number | undefined,
) => Promise<Float32Array[]>;

/** Sends a request when the caller has a place at the endpoint, which it may share with others. */
export type InTurn = <T>(request: () => Promise<T>) => Promise<T>;

/** The result of requests for some texts: the largest that succeeded, and whether all texts were embedded. */
interface Result {
  readonly largest: number;
  readonly complete: boolean;
}

interface Work {
  readonly texts: readonly Text[];
  readonly timeoutMs: number | undefined;
  readonly onOutcomes: OnOutcomes;
  readonly inTurn: InTurn;
}

/**
 * Embeds any number of texts with requests that an endpoint takes. A request that fails because of its texts
 * is repeated with each half of them, until single texts are left, which have failed or are embedded in parts.
 * Texts that the endpoint names as too long are embedded in parts without that search.
 */
export class TextBatches {
  /** Maximum texts of a request. It shrinks to the size that the endpoint accepts, and grows again. */
  #maxInputs: number;
  /** Maximum texts that the endpoint embeds in time. It grows again with each answer. */
  #inputsInTime: number;
  #growAfter = GROW_AFTER_TEXTS;
  /** Texts of successful requests of maximum size since `#maxInputs` last changed. */
  #takenTexts = 0;

  /**
   * @param limit upper bound of the texts of a request
   * @param maxInputs maximum texts of the first requests, as learned earlier
   */
  constructor(
    private readonly send: SendTexts,
    private readonly limit = EMBED_BATCH_INPUTS,
    maxInputs = limit,
  ) {
    this.#maxInputs = Math.min(limit, maxInputs);
    this.#inputsInTime = this.#maxInputs;
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
      inTurn = (request) => request(),
    }: {
      prefix?: string;
      timeoutMs?: number;
      onOutcomes?: OnOutcomes | undefined;
      inTurn?: InTurn | undefined;
    },
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
      await this.#embedRange({ texts, timeoutMs, onOutcomes: keep, inTurn }, at, end);
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
    // The first half may have lowered the limit for the second.
    if (size > this.#maxInputs) return await this.#embedHalves(work, from, to, timeoutMs);
    try {
      const inputs = work.texts.slice(from, to).map(whole);
      const vectors = await work.inTurn(() => this.send(inputs, timeoutMs));
      await work.onOutcomes(
        from,
        vectors.map((vector) => ({ vector, parts: 1 })),
      );
      this.#noteTaken(size);
      return { largest: size, complete: true };
    } catch (error) {
      if (!(error instanceof TextsAtFault)) throw error;
      if (error.fits.size > 0)
        return await this.#embedAround(work, [from, to], error.fits, timeoutMs);
      const isSlow = error.kind === "slow";
      if (isSlow) this.#inputsInTime = Math.ceil(size / 2);
      const result = await this.#embedHalves(
        work,
        from,
        to,
        isSlow ? EMBED_PART_TIMEOUT_MS : timeoutMs,
      );
      // The endpoint takes all of these texts, but not in one request.
      if (!isSlow && result.complete) this.#noteRefused(result.largest);
      return result;
    }
  }

  /** Raises the maximum again, because a refusal may have been temporary. */
  #noteTaken(size: number): void {
    this.#inputsInTime = Math.min(this.#maxInputs, Math.max(this.#inputsInTime, size * 2));
    if (size < this.#maxInputs || size >= this.limit) return;
    this.#takenTexts += size;
    if (this.#takenTexts < this.#growAfter) return;
    this.#maxInputs = Math.min(this.limit, this.#maxInputs * 2);
    this.#takenTexts = 0;
  }

  #noteRefused(largest: number): void {
    if (largest >= this.#maxInputs) return;
    this.#maxInputs = largest;
    this.#takenTexts = 0;
    this.#growAfter = Math.min(this.#growAfter * 2, GROW_AFTER_MAX_TEXTS);
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

  /** Embeds the texts that are too long in parts, and those between them. */
  async #embedAround(
    work: Work,
    [from, to]: readonly [from: number, to: number],
    fits: FittingChars,
    timeoutMs: number | undefined,
  ): Promise<Result> {
    let largest = 0;
    let start = from;
    const embedUpTo = async (end: number) => {
      if (end === start) return;
      const result = await this.#embedRange(work, start, end, timeoutMs);
      largest = Math.max(largest, result.largest);
    };
    for (const [place, chars] of [...fits].sort(([a], [b]) => a - b)) {
      await embedUpTo(from + place);
      await this.#embedOne(work, from + place, chars);
      start = from + place + 1;
    }
    await embedUpTo(to);
    return { largest, complete: false };
  }

  /** @param maxChars maximum characters of the text, if the endpoint has named them */
  async #embedOne(work: Work, at: number, maxChars?: number): Promise<Result> {
    try {
      const outcome = await this.#embedText(work, work.texts[at] as Text, maxChars);
      await work.onOutcomes(at, [outcome]);
      if (outcome.parts === 1) this.#noteTaken(1);
      return { largest: 1, complete: outcome.parts === 1 };
    } catch (error) {
      if (!(error instanceof TextsAtFault)) throw error;
      await work.onOutcomes(at, [{ reason: error.message }]);
      return { largest: 0, complete: false };
    }
  }

  /**
   * Embeds a text, or its parts if the endpoint refuses the whole, for example beyond the context of a model. A refused
   * part bounds the length of the following ones.
   */
  async #embedText(work: Work, text: Text, maxChars?: number): Promise<EmbeddedText> {
    const parts: EmbeddedPart[] = [];
    let most = maxChars === undefined ? text.body.length : bodyWithin(text, maxChars);
    for (let at = 0; at < text.body.length || parts.length === 0; ) {
      const part = partOf(text, at, most);
      const { length: chars } = part.body;
      if (chars > EMBED_PART_MIN_CHARS && bytesOf(part) > EMBED_BATCH_BYTES) {
        most = halfOf(part);
        continue;
      }
      try {
        const [vector] = await work.inTurn(() => this.send([whole(part)], work.timeoutMs));
        parts.push({ vector: vector as Float32Array, chars });
        at += chars;
      } catch (error) {
        if (!isDivisible(error) || chars <= EMBED_PART_MIN_CHARS) throw error;
        const fitting = error.fits.get(0);
        most =
          fitting === undefined ? halfOf(part) : Math.min(bodyWithin(part, fitting), chars - 1);
      }
    }
    return { vector: meanOf(parts), parts: parts.length };
  }
}

function isDivisible(error: unknown): error is TextsAtFault {
  return error instanceof TextsAtFault && (error.kind === "refused" || error.kind === "failed");
}
