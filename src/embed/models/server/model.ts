import type { Pooling } from "../../../ops/config/embedders.ts";
import { currentIdentity, type LocalModel } from "../local-model.ts";
import { ModelError } from "../model-error.ts";
import { loadRuntime, type Runtime, type Session, type Tensor } from "../runtime.ts";
import { ModelTokenizer, type Tokens } from "./tokens.ts";

/** The level of the runtime's log: errors only. */
const LOG_ERRORS = 3;
/** The outputs with a vector for each token, by the names that exporters give them. */
const TOKEN_OUTPUTS = ["last_hidden_state", "token_embeddings"];
/** A text whose vector shows the model's dimension. */
const FIRST_TEXT = "a";

/** A model in memory. */
export class Model {
  private constructor(
    private readonly settings: LocalModel,
    private readonly runtime: Runtime,
    private readonly session: Session,
    readonly tokenizer: ModelTokenizer,
  ) {}

  /** Loads a model. Throws a ModelError if its files have changed, or if it has another dimension than configured. */
  static async load(settings: LocalModel, runtimeFolder: string): Promise<Model> {
    if ((await currentIdentity(settings)) !== settings.identity) {
      throw new ModelError(
        "the files of the model have changed: restart the service, then run `tessera embeddings rebuild` " +
          "for the projects of this embedder",
      );
    }
    const { files, threads } = settings;
    const runtime = loadRuntime(runtimeFolder);
    const session = await runtime.InferenceSession.create(files.onnx, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: "sequential",
      graphOptimizationLevel: "all",
      logSeverityLevel: LOG_ERRORS,
      // Batches have many shapes, and the runtime would keep a memory plan for each.
      enableMemPattern: false,
      // Threads that spin while they wait for work take the processor from searches.
      extra: { session: { intra_op: { allow_spinning: "0" } } },
    }).catch((error: Error) => {
      throw new ModelError(`${files.onnx} cannot be loaded: ${error.message}`);
    });
    const model = new Model(settings, runtime, session, new ModelTokenizer(settings));
    await model.run([model.tokenizer.encode(FIRST_TEXT)]);
    return model;
  }

  /** The vectors of some texts, at unit length. Blocks the thread while the model runs. */
  async run(texts: readonly Tokens[]): Promise<Float32Array[]> {
    const length = Math.max(...texts.map(({ ids }) => ids.length));
    const output = outputOf(await this.session.run(this.#feeds(texts, length)));
    const width = output.dims.at(-1) as number;
    this.#requireDimension(width);
    // A model that pools itself returns one vector per text.
    const isPooled = output.dims.length === 2;
    const vectors = { data: output.data as Float32Array, width, length: isPooled ? 1 : length };
    return texts.map(({ ids }, i) => pool(vectors, i, isPooled ? 1 : ids.length, this.settings));
  }

  #feeds(texts: readonly Tokens[], length: number): Record<string, Tensor> {
    const { padding } = this.tokenizer;
    const columns: Record<string, (text: Tokens, at: number) => number> = {
      input_ids: ({ ids }, at) => ids[at] ?? padding,
      attention_mask: ({ ids }, at) => (at < ids.length ? 1 : 0),
      token_type_ids: ({ types }, at) => types[at] ?? 0,
      position_ids: (_text, at) => at,
    };
    const feeds: Record<string, Tensor> = {};
    for (const name of this.session.inputNames) {
      const column = columns[name];
      if (column === undefined) throw new ModelError(`the model has an unknown input: ${name}`);
      const data = new BigInt64Array(texts.length * length);
      texts.forEach((text, row) => {
        for (let at = 0; at < length; at++) data[row * length + at] = BigInt(column(text, at));
      });
      feeds[name] = new this.runtime.Tensor("int64", data, [texts.length, length]);
    }
    return feeds;
  }

  #requireDimension(width: number): void {
    const { dimension, truncate } = this.settings;
    if (width === dimension || (truncate && width > dimension)) return;
    throw new ModelError(
      `the model returns vectors of ${width} dimensions, and ${dimension} are configured`,
    );
  }
}

function outputOf(outputs: Readonly<Record<string, Tensor>>): Tensor {
  const named = TOKEN_OUTPUTS.find((name) => outputs[name] !== undefined);
  const all = Object.values(outputs);
  const output =
    named === undefined
      ? (all.find(({ dims }) => dims.length === 3) ?? all.find(({ dims }) => dims.length === 2))
      : outputs[named];
  if (output?.data instanceof Float32Array) return output;
  throw new ModelError("the model has no output with a vector of 32-bit floats for each token");
}

/** The vectors of the tokens of some texts, one after the other. All texts are padded to the same length. */
interface TokenVectors {
  readonly data: Float32Array;
  /** Tokens per text, with padding, and elements per vector. */
  readonly length: number;
  readonly width: number;
}

/**
 * The vector of a text at unit length, from those of its tokens.
 *
 * @param tokens the number of the text's tokens, which precede the padding
 * @param dimension the number of elements that are kept, from the first
 */
function pool(
  { data, length, width }: TokenVectors,
  text: number,
  tokens: number,
  { pooling, dimension }: { readonly pooling: Pooling; readonly dimension: number },
): Float32Array {
  const at = (token: number) => (text * length + token) * width;
  const pooled = new Float32Array(dimension);
  if (pooling === "mean") {
    for (let token = 0; token < tokens; token++) {
      const start = at(token);
      for (let i = 0; i < dimension; i++) {
        pooled[i] = (pooled[i] as number) + (data[start + i] as number);
      }
    }
  } else {
    const start = at(pooling === "cls" ? 0 : tokens - 1);
    pooled.set(data.subarray(start, start + dimension));
  }
  return normalised(pooled);
}

/** The direction of a vector. The sum of many has the direction of their mean. */
function normalised(vector: Float32Array): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  const scale = 1 / Math.sqrt(square);
  return square === 0 ? vector : vector.map((value) => value * scale);
}
