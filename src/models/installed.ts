import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { HASHING, isEmbedderName, type ModelConfig } from "../config/embedders.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { findModel, modelsFolder } from "./model-folder.ts";

/** A model in DATA_DIR/models. */
interface InstalledModel {
  /** The name by which it was fetched, or of its folder. */
  readonly name: string;
  readonly folder: string;
  /** Undefined for one that was brought by hand. */
  readonly manifest: Manifest | undefined;
  /** The file with the model; undefined if it is not complete. */
  readonly onnx: string | undefined;
  readonly bytes: number;
}

/** The models in DATA_DIR/models: folders, and those in the folder of an owner. */
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

/** Its tokenizer is what comes first. */
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
    // It is not complete.
  }
  return { name, folder, manifest: readManifest(folder), onnx, bytes };
}

/** The name of the embedder that a fetched model is without a setting. */
export function embedderNameOf(name: string): string {
  return basename(name).toLowerCase();
}

/**
 * The embedders that fetched models are by themselves, under their names, but those with a name that is taken. Models
 * that were brought by hand need a setting.
 */
export function fetchedEmbedders(dataDir: string, taken: ReadonlySet<string>): ModelConfig[] {
  const configs = new Map<string, ModelConfig>();
  for (const { name: onnx, manifest, onnx: file } of installedModels(dataDir)) {
    const name = embedderNameOf(onnx);
    const isFree = name !== HASHING && !taken.has(name) && !configs.has(name);
    if (manifest === undefined || file === undefined || !isFree || !isEmbedderName(name)) continue;
    configs.set(name, {
      ...{ name, onnx, dimension: undefined, pooling: undefined, threads: undefined },
      ...{ queryPrefix: undefined, documentPrefix: undefined, idleSeconds: undefined },
    });
  }
  return [...configs.values()];
}
