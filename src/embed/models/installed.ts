import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { HASHING, isEmbedderName, type ModelConfig } from "../../ops/config/embedders.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { findModel, modelsFolder } from "./model-folder.ts";

/** A model in DATA_DIR/models. */
interface InstalledModel {
  /** The name by which it was fetched, or of its folder. */
  readonly name: string;
  readonly folder: string;
  /** Undefined for a model that was copied by hand. */
  readonly manifest: Manifest | undefined;
  /** The file with the model; undefined if it is not complete. */
  readonly onnx: string | undefined;
  readonly bytes: number;
}

/** The models in DATA_DIR/models: `name` and `owner/name`. */
export function installedModels(dataDir: string): InstalledModel[] {
  const root = modelsFolder(dataDir);
  const names = foldersIn(root).flatMap((name) =>
    isModel(join(root, name))
      ? [name]
      : foldersIn(join(root, name)).map((each) => `${name}/${each}`),
  );
  return names.filter((name) => isModel(join(root, name))).map((name) => modelOf(root, name));
}

const foldersIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
        .map(({ name }) => name)
        .sort()
    : [];

/** The tokenizer is the first file that a download writes. */
const isModel = (folder: string): boolean =>
  readdirSync(folder).some((name) => name.startsWith("tokenizer.json"));

function modelOf(root: string, name: string): InstalledModel {
  const folder = join(root, name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const bytes = files
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name: file }) => sum + statSync(join(parentPath, file)).size, 0);
  let onnx: string | undefined;
  try {
    onnx = basename(findModel(folder).onnx);
  } catch {
    // The model is incomplete.
  }
  return { name, folder, manifest: readManifest(folder), onnx, bytes };
}

/** The name of a fetched model's embedder if the configuration does not name one. */
export function embedderNameOf(name: string): string {
  return basename(name).toLowerCase();
}

/**
 * The embedders of fetched models that need no configuration. A model whose name is taken is left out. Models that were
 * copied by hand need a setting.
 */
export function fetchedEmbedders(dataDir: string, taken: ReadonlySet<string>): ModelConfig[] {
  const configs = new Map<string, ModelConfig>();
  for (const { name: onnx, manifest, onnx: file } of installedModels(dataDir)) {
    const name = embedderNameOf(onnx);
    const isFree = name !== HASHING && !taken.has(name) && !configs.has(name);
    if (manifest === undefined || file === undefined || !isFree || !isEmbedderName(name)) continue;
    configs.set(name, {
      name,
      onnx,
      dimension: undefined,
      pooling: undefined,
      threads: undefined,
      queryPrefix: undefined,
      documentPrefix: undefined,
      idleSeconds: undefined,
    });
  }
  return [...configs.values()];
}
