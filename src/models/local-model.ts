import { availableParallelism } from "node:os";
import { basename } from "node:path";
import type { ModelConfig, Pooling } from "../config/embedders.ts";
import { ModelError } from "./model-error.ts";
import {
  findModel,
  folderOf,
  identityOf,
  isPath,
  MODEL_CONFIG,
  type ModelFiles,
  readJson,
  repositoryOf,
  TOKENIZER_CONFIG,
} from "./model-folder.ts";
import { type ModelFacts, PRESETS } from "./presets.ts";

/** Tokens of a text, at most: attention takes memory that grows with their square. */
const MODEL_TOKENS_MAX = 2_048;
/** What is assumed of a model that does not say how many tokens it takes. */
const MODEL_TOKENS_DEFAULT = 512;
/** Models of this family number positions from here on. */
const ROBERTA_FIRST_POSITION = 2;
/** A model stays in memory for this time without a text, unless it is configured otherwise. */
const MODEL_IDLE_SECONDS = 300;
/** Texts of one request unless configured otherwise: a small one lets queries pass soon. */
const MODEL_BATCH_INPUTS = 32;

/** The path of queries, which go first and are cut to what the model reads; the texts of files have another. */
export const QUERY_PATH = "/queries";

/**
 * With this header a refusal names the texts that are too long: JSON with pairs of their position in the request and the
 * number of characters that the model reads of such a text.
 */
export const FITS_HEADER = "x-fits";

/** A model on this machine with all settings, as threads and processes give it to each other. */
export interface LocalModel extends ModelFacts {
  readonly kind: "local";
  /** The name of the embedder. */
  readonly name: string;
  /** What stands for the model in the fingerprints of projects: its name, and a checksum of its files. */
  readonly model: string;
  readonly identity: string;
  readonly files: ModelFiles;
  readonly truncate: boolean;
  readonly maxTokens: number;
  readonly threads: number;
  readonly idleMs: number;
  readonly batch: number;
  /** Where the process of the model listens. */
  readonly socket: string;
}

/** A checksum of the files of a model as they are now, and of the settings that change the vectors of stored texts. */
export async function currentIdentity(
  model: Omit<LocalModel, "identity" | "model">,
): Promise<string> {
  const { files, dimension, pooling, documentPrefix, truncate, maxTokens } = model;
  return await identityOf(files, { dimension, pooling, documentPrefix, truncate, maxTokens });
}

/** Finds a configured model. Throws a ModelError that says what is missing. */
export async function resolveModel(
  config: ModelConfig,
  { dataDir, socket }: { readonly dataDir: string; readonly socket: string },
): Promise<LocalModel> {
  const { name, onnx, truncate = false } = config;
  const files = findModel(folderOf(onnx, dataDir));
  const facts = factsOf(config, files.folder);
  const model = {
    ...{ kind: "local" as const, name, files, truncate, socket, ...facts },
    maxTokens: maxTokensOf(files.folder),
    threads: config.threads ?? Math.max(1, Math.floor(availableParallelism() / 2)),
    idleMs: (config.idleSeconds ?? MODEL_IDLE_SECONDS) * 1_000,
    batch: config.batch ?? MODEL_BATCH_INPUTS,
  };
  const identity = await currentIdentity(model);
  const called = isPath(onnx) ? basename(files.folder) : onnx;
  return { ...model, identity, model: `${called.replaceAll(":", "-")}@${identity}` };
}

/** What the settings say, else what is known of the model by its name, else what its files say. */
function factsOf(config: ModelConfig, folder: string): ModelFacts {
  const preset = presetOf(config.onnx);
  const { hidden_size: hidden } = readJson(folder, MODEL_CONFIG);
  const dimension = config.dimension ?? preset?.dimension ?? hidden;
  if (typeof dimension !== "number") {
    throw new ModelError(`${folder} does not say its dimension: set dimension`);
  }
  return {
    dimension,
    pooling: config.pooling ?? preset?.pooling ?? ("mean" satisfies Pooling),
    queryPrefix: config.queryPrefix ?? preset?.queryPrefix ?? "",
    documentPrefix: config.documentPrefix ?? preset?.documentPrefix ?? "",
  };
}

/** What is known of a model by its own name or that of its repository. */
function presetOf(onnx: string): ModelFacts | undefined {
  const repository = repositoryOf(onnx);
  const known = Object.values(PRESETS).find((each) => each.repository === repository);
  return repository === undefined ? undefined : known;
}

function maxTokensOf(folder: string): number {
  const { model_max_length: stated } = readJson(folder, TOKENIZER_CONFIG);
  const { max_position_embeddings: positions, model_type: type } = readJson(folder, MODEL_CONFIG);
  const skipped = typeof type === "string" && /roberta/.test(type) ? ROBERTA_FIRST_POSITION : 0;
  const limits = [
    typeof stated === "number" ? stated : Number.POSITIVE_INFINITY,
    typeof positions === "number" ? positions - skipped : Number.POSITIVE_INFINITY,
  ];
  const least = Math.min(...limits);
  return Math.min(Number.isFinite(least) ? least : MODEL_TOKENS_DEFAULT, MODEL_TOKENS_MAX);
}
