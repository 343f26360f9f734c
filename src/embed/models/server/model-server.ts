import { base64Of } from "../../../domain/vector.ts";
import { FITS_HEADER, QUERY_PATH } from "../local-model.ts";
import { ModelError } from "../model-error.ts";
import type { Model } from "./model.ts";
import type { ModelTokenizer, Tokens } from "./tokens.ts";

/** Maximum sum of the squared lengths of a batch's texts, in tokens: 4 texts of 512 tokens, or 64 of 128. */
const BATCH_SQUARE_TOKENS = 1_048_576;
/** Maximum number of texts in a batch. */
const BATCH_TEXTS = 64;
/** Minimum tokens of a batch's shortest text, as a share of the longest. Padding takes as much time as tokens. */
const BATCH_FILLED_MIN = 0.8;
/** Maximum number of queries that go first in a row while texts of files wait. */
const QUERIES_IN_A_ROW = 8;

/** The parts of a model that a server uses. */
export interface ServedModel extends Pick<Model, "run"> {
  readonly tokenizer: Pick<ModelTokenizer, "maxTokens" | "maxChars" | "encode" | "cut">;
}

/** The request of a caller. Its signal aborts when the caller disconnects. */
type Caller = Pick<Request, "signal">;

/**
 * Answers requests of `/v1/embeddings` by a model in this process, which the first request loads. Texts are divided
 * into tokens one by one, because long texts take long. Requests take turns between texts.
 */
export class ModelServer {
  readonly #turns = new WorkTurns();
  #model: Promise<ServedModel> | undefined;
  #lastUse = performance.now();
  #running = 0;

  constructor(private readonly load: () => Promise<ServedModel>) {}

  /** Time since the last request ended; 0 while a request runs. */
  get idleMs(): number {
    return this.#running > 0 ? 0 : performance.now() - this.#lastUse;
  }

  async answer(request: Request): Promise<Response> {
    this.#running++;
    try {
      const { input } = (await request.json()) as { input: string[] };
      const model = await this.#loaded();
      const vectors =
        new URL(request.url).pathname === QUERY_PATH
          ? await this.#embedQueries(model, input, request)
          : await this.#embedTexts(model, input, request);
      const data = vectors.map((vector, index) => ({ index, embedding: base64Of(vector) }));
      return Response.json({ data });
    } catch (error) {
      const fits = error instanceof TextsTooLong ? { [FITS_HEADER]: error.fits } : {};
      return new Response((error as Error).message, { status: statusOf(error), headers: fits });
    } finally {
      this.#running--;
      this.#lastUse = performance.now();
    }
  }

  /** Embeds all in one turn, because queries are short, and longer ones are cut. */
  async #embedQueries(
    model: ServedModel,
    input: readonly string[],
    caller: Caller,
  ): Promise<Float32Array[]> {
    const { tokenizer } = model;
    const read = (text: string) =>
      tokenizer.cut(tokenizer.encode(text.slice(0, tokenizer.maxChars)));
    return await this.#inTurn(() => model.run(input.map(read)), caller, true);
  }

  async #embedTexts(
    model: ServedModel,
    input: readonly string[],
    caller: Caller,
  ): Promise<Float32Array[]> {
    const texts = await this.#encode(model, input, caller);
    const vectors = new Array<Float32Array>(texts.length);
    for (const places of batchesOf(texts)) {
      const run = () => model.run(places.map((place) => texts[place] as Tokens));
      const batch = await this.#inTurn(run, caller);
      places.forEach((place, i) => {
        vectors[place] = batch[i] as Float32Array;
      });
    }
    return vectors;
  }

  /** The tokens of texts. Throws TextsTooLong, before dividing any text if one has too many characters. */
  async #encode(
    { tokenizer }: ServedModel,
    input: readonly string[],
    caller: Caller,
  ): Promise<Tokens[]> {
    const { maxTokens, maxChars } = tokenizer;
    requireFitting(
      input.map(({ length }) => (length > maxChars ? maxChars : null)),
      `${maxChars} characters`,
    );
    const texts: Tokens[] = [];
    for (const text of input) {
      texts.push(await this.#inTurn(() => tokenizer.encode(text), caller));
    }
    requireFitting(
      texts.map(({ ids }, i) =>
        ids.length > maxTokens ? fittingChars(input[i] as string, ids.length, maxTokens) : null,
      ),
      `${maxTokens} tokens`,
    );
    return texts;
  }

  #inTurn<T>(work: () => T | Promise<T>, { signal }: Caller, isQuery = false): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const turn = async () => {
      if (signal.aborted) reject(new ModelError("the caller has left"));
      else await Promise.try(work).then(resolve, reject);
    };
    this.#turns.add(turn, isQuery);
    return promise;
  }

  /** The model. After a failure the next request loads it again. */
  #loaded(): Promise<ServedModel> {
    this.#model ??= this.load().catch((error) => {
      this.#model = undefined;
      throw error;
    });
    return this.#model;
  }
}

/**
 * The share of the characters that would fit on average. Some parts of a text have more tokens per character than
 * others.
 */
const FITTING_SHARE = 0.9;

/** Maximum characters of a part of a text, by the number of tokens of the whole. */
function fittingChars(text: string, tokens: number, maxTokens: number): number {
  return Math.floor((FITTING_SHARE * text.length * maxTokens) / tokens);
}

/** Throws TextsTooLong unless all texts fit. The entry of a text that fits is null. */
function requireFitting(fits: readonly (number | null)[], most: string): void {
  const tooLong = [...fits.entries()].filter(([, chars]) => chars !== null);
  if (tooLong.length > 0) throw new TextsTooLong(most, JSON.stringify(tooLong));
}

/** Some texts have more characters or tokens than the model reads. */
class TextsTooLong extends Error {
  constructor(
    most: string,
    /** As in FITS_HEADER. */
    readonly fits: string,
  ) {
    super(`a text is too long: the model reads ${most}`);
  }
}

/** 413 for texts that may succeed in parts, 503 for a model that cannot be used, 500 for any other text. */
function statusOf(error: unknown): number {
  if (error instanceof TextsTooLong) return 413;
  return error instanceof ModelError ? 503 : 500;
}

/** The places of texts in a request, in batches of about the same length, the shortest first. */
export function batchesOf(texts: readonly Tokens[]): number[][] {
  const lengthOf = (place: number) => (texts[place] as Tokens).ids.length;
  const places = [...texts.keys()].sort((a, b) => lengthOf(a) - lengthOf(b));
  const batches: number[][] = [];
  for (const place of places) {
    const last = batches.at(-1);
    // All texts of a batch are padded to the length of the last, which is the longest.
    const fits =
      last !== undefined &&
      last.length < BATCH_TEXTS &&
      lengthOf(last[0] as number) >= BATCH_FILLED_MIN * lengthOf(place) &&
      (last.length + 1) * lengthOf(place) ** 2 <= BATCH_SQUARE_TOKENS;
    if (fits) last.push(place);
    else batches.push([place]);
  }
  return batches;
}

type Work = () => Promise<void>;

/**
 * Runs one piece of work after the other. Queries go before the texts of files. Requests for texts run in pieces that
 * alternate, and some pieces run even in a flood of queries.
 */
class WorkTurns {
  readonly #queries: Work[] = [];
  readonly #pieces: Work[] = [];
  #inARow = 0;
  #running = false;

  add(work: Work, isQuery: boolean): void {
    (isQuery ? this.#queries : this.#pieces).push(work);
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let work = this.#next(); work !== undefined; work = this.#next()) {
      await work();
      // Requests that arrived meanwhile are read before the next piece is chosen.
      await Bun.sleep(0);
    }
    this.#running = false;
  }

  #next(): Work | undefined {
    const isQuery = this.#pieces.length === 0 || this.#inARow < QUERIES_IN_A_ROW;
    const query = isQuery ? this.#queries.shift() : undefined;
    this.#inARow = query === undefined ? 0 : this.#inARow + 1;
    return query ?? this.#pieces.shift();
  }
}
