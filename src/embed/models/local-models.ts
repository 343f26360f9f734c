import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandName, ENVIRONMENT } from "../../ops/config/caller.ts";
import type { EmbedderConfig, EndpointConfig } from "../../ops/config/embedders.ts";
import { fetchedEmbedders } from "./installed.ts";
import { type LocalModel, resolveModel } from "./local-model.ts";
import { ModelError } from "./model-error.ts";
import { folderOf, repositoryOf } from "./model-folder.ts";
import { findRuntime } from "./runtime.ts";

const ENTRY = fileURLToPath(new URL("./server/main.ts", import.meta.url));
/** The prefix of the name of a temporary folder that only this account can enter. The system adds the rest. */
const SOCKETS_PREFIX = "tessera-models-";
/** The folder of temporary files must be shorter, because the address of a socket holds some 100 bytes. */
const SOCKETS_BASE_MAX_BYTES = 64;

/** Minimum time between the failure of a process and its restart. */
const RESTART_MS = 500;

/** An embedder that can be used: an endpoint, or a model that is on this machine. */
export type UsableEmbedder = EndpointConfig | LocalModel;

interface Options {
  readonly dataDir: string;
  /** Receives messages on models that cannot be used, with the remedy, and on processes that failed. */
  readonly warn: (message: string) => void;
}

/**
 * The models of a configuration, and the processes that run them. Each model has one process, which all threads of this
 * process use. The first text for the model starts it; after it has ended, the next text starts it again.
 */
export class LocalModels {
  readonly #running = new Map<string, Bun.Subprocess>();
  readonly #failed = new Map<string, number>();
  #closed = false;

  private constructor(
    readonly embedders: readonly UsableEmbedder[],
    private readonly sockets: string | undefined,
    private readonly runtime: string,
    private readonly options: Options,
  ) {}

  /** Finds the models. A model that cannot be used is left out with a warning. */
  static async open(given: readonly EmbedderConfig[], options: Options): Promise<LocalModels> {
    const taken = new Set(given.map(({ name }) => name));
    const configs = [...given, ...fetchedEmbedders(options.dataDir, taken)];
    if (!configs.some((config) => "onnx" in config)) {
      return new LocalModels(configs as readonly EndpointConfig[], undefined, "", options);
    }
    const runtime = findRuntime(options.dataDir);
    const base = Buffer.byteLength(tmpdir()) > SOCKETS_BASE_MAX_BYTES ? "/tmp" : tmpdir();
    const sockets = mkdtempSync(join(base, SOCKETS_PREFIX));
    const embedders: UsableEmbedder[] = [];
    for (const config of configs) {
      if (!("onnx" in config)) embedders.push(config);
      else if (runtime === undefined) {
        options.warn(unusable(config.name, `run \`${commandName()} models install\``));
      } else {
        const where = { dataDir: options.dataDir, socket: join(sockets, `${embedders.length}`) };
        try {
          embedders.push(await resolveModel(config, where));
        } catch (error) {
          if (!(error instanceof ModelError)) throw error;
          options.warn(unusable(config.name, remedyOf(config.onnx, options.dataDir, error)));
        }
      }
    }
    return new LocalModels(embedders, sockets, runtime ?? "", options);
  }

  /** Starts the process of a model, unless it runs. */
  readonly start = (name: string): void => {
    const model = this.embedders.find((each) => each.name === name);
    if (this.#closed || this.#running.has(name) || !isLocal(model)) return;
    if (performance.now() - (this.#failed.get(name) ?? -RESTART_MS) < RESTART_MS) return;
    const program = Bun.spawn([process.execPath, ENTRY, JSON.stringify(model), this.runtime], {
      // The process does not need the keys and addresses of the service.
      env: { PATH: ENVIRONMENT["PATH"] ?? "", TMPDIR: tmpdir() },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      onExit: (_program, status, signal) => {
        this.#running.delete(name);
        if (this.#closed || status === 0) return;
        this.#failed.set(name, performance.now());
        this.options.warn(`the process of the model of ${name} has ended: ${signal ?? status}`);
      },
    });
    program.unref();
    this.#running.set(name, program);
  };

  /** The ids of the processes that run, by embedder. */
  get processes(): ReadonlyMap<string, number> {
    return new Map([...this.#running].map(([name, { pid }]) => [name, pid]));
  }

  /** Ends all processes. */
  async close(): Promise<void> {
    this.#closed = true;
    const programs = [...this.#running.values()];
    for (const program of programs) program.kill("SIGKILL");
    await Promise.all(programs.map(({ exited }) => exited));
    if (this.sockets !== undefined) rmSync(this.sockets, { recursive: true, force: true });
  }
}

export function isLocal(embedder: UsableEmbedder | undefined): embedder is LocalModel {
  return embedder !== undefined && "kind" in embedder;
}

function unusable(name: string, remedy: string): string {
  return `the embedder ${name} cannot be used: ${remedy}, and start again`;
}

function remedyOf(onnx: string, dataDir: string, { message }: ModelError): string {
  const canFetch = repositoryOf(onnx) !== undefined && !existsSync(folderOf(onnx, dataDir));
  return canFetch ? `run \`${commandName()} models pull ${onnx}\`` : message;
}
