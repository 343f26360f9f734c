import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import { ModelError } from "./model-error.ts";
import { PRESETS } from "./presets.ts";

/** The folder of models within DATA_DIR. */
const MODELS_FOLDER = "models";
/** Folders with ONNX files within a model's folder, as repositories of models have them. */
const ONNX_FOLDERS = ["onnx", "."];
/** The files of a model, best first: models quantized to 8-bit integers are fastest on CPUs. */
const ONNX_FILES = ["model_quantized.onnx", "model_int8.onnx", "model.onnx"];
/** The suffix of files with weights. A model that exceeds the size limit of ONNX files stores them apart. */
const WEIGHTS_SUFFIX = /^[._]data[\w.-]*$/;

const TOKENIZER = "tokenizer.json";
export const TOKENIZER_CONFIG = "tokenizer_config.json";
export const MODEL_CONFIG = "config.json";

/** The form of a model's name: `name`, or `owner/name` like a repository. */
const MODEL_NAME = /^[\w][\w.-]*(\/[\w][\w.-]*)?$/;

/** The files that determine the vectors of a model. */
export interface ModelFiles {
  readonly folder: string;
  /** The path of the model. */
  readonly onnx: string;
  readonly weights: readonly string[];
  readonly tokenizer: string;
}

export function modelsFolder(dataDir: string): string {
  return join(dataDir, MODELS_FOLDER);
}

/** True for the path of a folder, false for the name of a model in DATA_DIR. */
export function isPath(onnx: string): boolean {
  return isAbsolute(onnx) || /^\.\.?(\/|$)/.test(onnx);
}

/** The folder of a model, by its path or its name. */
export function folderOf(onnx: string, dataDir: string): string {
  return isPath(onnx) ? resolve(onnx) : join(modelsFolder(dataDir), onnx);
}

/**
 * The repository of a model, by its name; undefined for an invalid name.
 */
export function repositoryOf(name: string): string | undefined {
  if (Object.hasOwn(PRESETS, name)) return PRESETS[name]?.repository;
  return name.includes("/") && MODEL_NAME.test(name) ? name : undefined;
}

/** The preferred file of a model among these paths within its folder, and then the files with its weights. */
function preferredFiles(paths: readonly string[]): string[] {
  for (const name of ONNX_FILES) {
    for (const folder of ONNX_FOLDERS) {
      const path = join(folder, name);
      if (!paths.includes(path)) continue;
      const weights = paths.filter(
        (each) => each.startsWith(path) && WEIGHTS_SUFFIX.test(each.slice(path.length)),
      );
      return [path, ...weights.sort()];
    }
  }
  return [];
}

/** The files to fetch of a repository with these paths, the model last; undefined if it has no usable model. */
export function neededFiles(paths: readonly string[]): string[] | undefined {
  const onnx = preferredFiles(paths);
  if (onnx.length === 0 || !paths.includes(TOKENIZER)) return undefined;
  const configs = [TOKENIZER_CONFIG, MODEL_CONFIG].filter((name) => paths.includes(name));
  // A model is found by its ONNX file, so that file comes last.
  return [TOKENIZER, ...configs, ...onnx.toReversed()];
}

/** Finds the files of a model. Throws a ModelError that names a missing file. */
export function findModel(folder: string): ModelFiles {
  const paths = ONNX_FOLDERS.flatMap((each) => namesIn(join(folder, each), each));
  const [onnx, ...weights] = preferredFiles(paths).map((path) => join(folder, path));
  if (onnx === undefined) {
    throw new ModelError(`there is no ${ONNX_FILES.join(", ")} in ${folder} or its folder onnx`);
  }
  const tokenizer = join(folder, TOKENIZER);
  if (!existsSync(tokenizer)) throw new ModelError(`there is no ${TOKENIZER} in ${folder}`);
  return { folder, onnx, weights, tokenizer };
}

function namesIn(folder: string, prefix: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => join(prefix, name));
}

/** A JSON file of a model's folder; an empty object if the file is missing. Throws a ModelError if it is damaged. */
export function readJson(folder: string, name: string): Record<string, unknown> {
  const path = join(folder, name);
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new ModelError(`${path} is damaged`);
  }
}

/** The length of a model's identity, a prefix of its checksum. */
const IDENTITY_CHARS = 16;

/**
 * The identity of a model: a checksum over its files and over the settings that change its vectors.
 */
export async function identityOf(
  { onnx, weights, tokenizer, folder }: ModelFiles,
  settings: Readonly<Record<string, unknown>>,
): Promise<string> {
  const all = createHash("sha256");
  const configs = [TOKENIZER_CONFIG, MODEL_CONFIG].map((name) => join(folder, name));
  for (const path of [onnx, ...weights, tokenizer, ...configs.filter(existsSync)]) {
    all.update(`${basename(path)} ${await sha256Of(path)}\n`);
  }
  all.update(JSON.stringify(settings, Object.keys(settings).sort()));
  return all.digest("hex").slice(0, IDENTITY_CHARS);
}

/** The SHA-256 of a file in hexadecimal digits, read in pieces. */
async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest("hex");
}
