import { availableParallelism } from "node:os";
import { basename } from "node:path";
import type { ModelConfig, Pooling } from "../../ops/config/embedders.ts";
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

/** Maximum tokens of a text. The memory of attention grows with their square. */
const MODEL_TOKENS_MAX = 2_048;
/** Maximum tokens of a text for a model whose files do not state it. */
const MODEL_TOKENS_DEFAULT = 512;
/** The first position that models of this family use. */
const ROBERTA_FIRST_POSITION = 2;
/** Default time that an idle model stays in memory. */
const MODEL_IDLE_SECONDS = 300;
/** Default number of texts of one request. Small requests let queries pass soon. */
const MODEL_BATCH_INPUTS = 32;

/** The path for queries, which go first and are cut to the tokens that the model reads. Texts of files have another. */
export const QUERY_PATH = "/queries";

/**
 * The header in which a refusal lists the texts that are too long: JSON with pairs of their position in the request and
 * the number of characters that the model reads of such a text.
 */
export const FITS_HEADER = "x-fits";

/** A model on this machine with all settings, as threads and processes pass it to each other. */
export interface LocalModel extends ModelFacts {
  readonly kind: "local";
  /** The name of the embedder. */
  readonly name: string;
  /** The model's id in the fingerprints of projects: its name, and a checksum of its files. */
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

/** Finds a configured model. Throws a ModelError that names the missing file or setting. */
export async function resolveModel(
  config: ModelConfig,
  { dataDir, socket }: { readonly dataDir: string; readonly socket: string },
): Promise<LocalModel> {
  const { name, onnx, truncate = false } = config;
  const files = findModel(folderOf(onnx, dataDir));
  const facts = factsOf(config, files.folder);
  const model = {
    kind: "local" as const,
    name,
    files,
    truncate,
    socket,
    ...facts,
    maxTokens: maxTokensOf(files.folder),
    threads: config.threads ?? Math.max(1, Math.floor(availableParallelism() / 2)),
    idleMs: (config.idleSeconds ?? MODEL_IDLE_SECONDS) * 1_000,
    batch: config.batch ?? MODEL_BATCH_INPUTS,
  };
  const identity = await currentIdentity(model);
  const called = isPath(onnx) ? basename(files.folder) : onnx;
  return { ...model, identity, model: `${called.replaceAll(":", "-")}@${identity}` };
}

/** The facts of a model from the settings, else from the preset of its name, else from its files. */
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

/** The preset of a model, by its own name or that of its repository. */
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
