import { base64Of } from "../../shared/vector.ts";
import { type LocalModel, QUERY_PATH } from "../local-model.ts";
import { ModelError } from "../model-error.ts";
import { batchesOf } from "./batches.ts";
import { Model } from "./model.ts";
import type { Tokens } from "./tokens.ts";
import { WorkTurns } from "./turns.ts";

/** Answers requests of `/v1/embeddings` by a model in this process, which the first of them loads. */
export class ModelServer {
  readonly #turns = new WorkTurns();
  #model: Promise<Model> | undefined;
  #lastUse = performance.now();
  #running = 0;

  constructor(
    private readonly settings: LocalModel,
    private readonly runtimeFolder: string,
  ) {}

  /** How long nothing has been asked. */
  get idleMs(): number {
    return this.#running > 0 ? 0 : performance.now() - this.#lastUse;
  }

  async answer(request: Request): Promise<Response> {
    this.#running++;
    try {
      const { input } = (await request.json()) as { input: string[] };
      const isQuery = new URL(request.url).pathname === QUERY_PATH;
      const vectors = await this.#embed(input, isQuery, request.signal);
      const data = vectors.map((vector, index) => ({ index, embedding: base64Of(vector) }));
      return Response.json({ data });
    } catch (error) {
      return new Response((error as Error).message, { status: statusOf(error) });
    } finally {
      this.#running--;
      this.#lastUse = performance.now();
    }
  }

  async #embed(
    input: readonly string[],
    isQuery: boolean,
    signal: AbortSignal,
  ): Promise<Float32Array[]> {
    const model = await this.#loaded();
    const { tokenizer } = model;
    const texts = input.map((text) => tokenizer.encode(text));
    const long = texts.find(({ ids }) => ids.length > tokenizer.maxTokens);
    if (long !== undefined && !isQuery) throw new TooLong(long, tokenizer.maxTokens);
    const read = texts.map((text) => tokenizer.cut(text));
    const vectors = new Array<Float32Array>(texts.length);
    for (const places of batchesOf(read)) {
      const compute = async () => {
        // Nobody waits for it any more.
        if (signal.aborted) throw new ModelError("the request has ended");
        const batch = await model.run(places.map((place) => read[place] as Tokens));
        places.forEach((place, i) => {
          vectors[place] = batch[i] as Float32Array;
        });
      };
      await this.#inTurn(compute, isQuery);
    }
    return vectors;
  }

  #inTurn(compute: () => Promise<void>, isQuery: boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#turns.add(() => compute().then(resolve, reject), isQuery);
    return promise;
  }

  /** One that could not be loaded is tried again by the next request. */
  #loaded(): Promise<Model> {
    this.#model ??= Model.load(this.settings, this.runtimeFolder).catch((error) => {
      this.#model = undefined;
      throw error;
    });
    return this.#model;
  }
}

/** A text has more tokens than the model reads. */
class TooLong extends Error {
  constructor({ ids }: Tokens, most: number) {
    super(`a text has ${ids.length} tokens, and the model reads ${most}`);
  }
}

/** 413 for a text that may succeed in parts, 503 for a model that cannot be used, 500 for any other text. */
function statusOf(error: unknown): number {
  if (error instanceof TooLong) return 413;
  return error instanceof ModelError ? 503 : 500;
}
