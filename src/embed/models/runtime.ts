import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../../ops/config/caller.ts";
import { modelsFolder } from "./model-folder.ts";
import manifest from "./runtime/package.json" with { type: "json" };

const PACKAGE = "onnxruntime-node";
const FOLDER = `${PACKAGE}-${manifest.dependencies[PACKAGE]}`;

/** The parts of the runtime's interface that are used. */
export interface Runtime {
  readonly InferenceSession: {
    create(path: string, options: Readonly<Record<string, unknown>>): Promise<Session>;
  };
  readonly Tensor: new (type: string, data: BigInt64Array, dims: readonly number[]) => Tensor;
}

export interface Tensor {
  readonly data: unknown;
  readonly dims: readonly number[];
}

export interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>;
}

/**
 * The possible folders of the runtime. Tessera's own folder serves all services of an installation. Where that folder
 * is read-only, as in a container, the runtime is in the folder of the models.
 */
function runtimeFolders(dataDir: string): string[] {
  return [join(ROOT, ".cache", FOLDER), join(modelsFolder(dataDir), ".runtime", FOLDER)];
}

/** The folder of the installed runtime; undefined if it is not installed. */
export function findRuntime(dataDir: string): string | undefined {
  return runtimeFolders(dataDir).find((folder) => existsSync(join(folder, "package.json")));
}

/** The folder to install the runtime into: the first that can be written to. */
export function runtimeDestination(dataDir: string): string {
  const [own, ofModels] = runtimeFolders(dataDir) as [string, string];
  try {
    const parent = join(own, "..");
    mkdirSync(parent, { recursive: true });
    accessSync(parent, constants.W_OK);
    return own;
  } catch {
    return ofModels;
  }
}

/** Loads the runtime. Only the process of a model calls this. */
export function loadRuntime(folder: string): Runtime {
  return createRequire(join(folder, "package.json"))(PACKAGE) as Runtime;
}
