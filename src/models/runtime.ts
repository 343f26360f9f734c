import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "../config/caller.ts";
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
 * Where the runtime may be: in Tessera's own folder, for all services of an installation, or beside the models,
 * where that folder cannot be written to, as in a container.
 */
function runtimeFolders(dataDir: string): string[] {
  return [join(ROOT, ".cache", FOLDER), join(modelsFolder(dataDir), ".runtime", FOLDER)];
}

/** The folder of the installed runtime; undefined if there is none. */
export function findRuntime(dataDir: string): string | undefined {
  return runtimeFolders(dataDir).find((folder) => existsSync(join(folder, "package.json")));
}

/** Where the runtime is to be installed: the first folder that can be written to. */
export function runtimeDestination(dataDir: string): string {
  const [own, beside] = runtimeFolders(dataDir) as [string, string];
  try {
    const parent = join(own, "..");
    mkdirSync(parent, { recursive: true });
    accessSync(parent, constants.W_OK);
    return own;
  } catch {
    return beside;
  }
}

/** Loads the runtime. Only the process of a model does. */
export function loadRuntime(folder: string): Runtime {
  return createRequire(join(folder, "package.json"))(PACKAGE) as Runtime;
}
