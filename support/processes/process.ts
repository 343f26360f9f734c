import { join } from "node:path";
import type { Subprocess } from "bun";
import { onCleanup } from "../cleanup.ts";
import { ForwardedLogs } from "../service-logs.ts";
import { dataFolder } from "./embedded.ts";

export const PROJECT_ROOT = join(import.meta.dir, "../..");

/** Generous, because tests share few cores. A server that fails to start exits sooner by itself. */
const START_TIMEOUT_MS = 120_000;

/** The service, which dies at a failpoint. */
export const crashingAt = (failpoint: string) => [
  "support/processes/crashing-service.ts",
  failpoint,
];

export type ServerOptions = {
  /** Environment variables over the defaults; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The program that is the server, with its arguments; the service by default. */
  readonly program?: readonly string[];
  /** The clone of the project that is run; this one by default. */
  readonly root?: string;
  /** A program that runs the server, with its arguments. Signals reach this program. */
  readonly under?: readonly string[];
  /** How many files and connections the server may have open. */
  readonly openFiles?: number;
};

export type TestServer = {
  /** `http://127.0.0.1:port`, as the server printed it. */
  readonly url: string;
  readonly dataDir: string;
  readonly pid: number;
  /** Everything printed so far, both streams together. */
  logs(): string;
  kill(signal: NodeJS.Signals): void;
  /** The exit status, or 128 + signal. */
  readonly exited: Promise<number>;
  /** Kills the server if it is running. Runs automatically at the end. */
  stop(): Promise<void>;
};

export type CommandResult = { status: number; stdout: string; stderr: string };

/**
 * Starts the real server on a free port with a new data folder and waits until it listens. It gets
 * little of the caller's environment.
 */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const env = environment(options.env);
  const { under = [], program: server = ["src/main.ts"] } = options;
  const command = [...under, process.execPath, ...server];
  const limit = `ulimit -n ${options.openFiles}; exec "$@"`;
  if (options.openFiles !== undefined) command.unshift("sh", "-c", limit, "sh");
  const program = Bun.spawn(command, {
    cwd: options.root ?? PROJECT_ROOT,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = collect(program);
  const stop = onCleanup(async () => {
    if (program.exitCode === null) program.kill("SIGKILL");
    await program.exited;
  });
  const url = await printedUrl(program, output);
  return {
    url,
    dataDir: env.DATA_DIR ?? "",
    pid: program.pid,
    logs: () => output.text,
    kill: (signal) => program.kill(signal),
    exited: program.exited,
    stop,
  };
}

/** Runs a `tessera` command and waits for its end. */
export async function runCommand(
  args: readonly string[],
  options: ServerOptions & { readonly stdin?: string | Uint8Array } = {},
): Promise<CommandResult> {
  const program = Bun.spawn([process.execPath, "src/cli/main.ts", ...args], {
    cwd: options.root ?? PROJECT_ROOT,
    env: environment(options.env),
    stdin: options.stdin === undefined ? "ignore" : new Blob([options.stdin]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const stop = onCleanup(() => program.kill("SIGKILL"));
  const [status, stdout, stderr] = await Promise.all([
    program.exited,
    program.stdout.text(),
    program.stderr.text(),
  ]);
  await stop();
  return { status, stdout, stderr };
}

/** Of the caller's environment: what every program needs, and how the runtime compiles and keeps memory. */
const PASSED_ON = ["HOME", "TMPDIR", "BUN_JSC_useFTLJIT", "MIMALLOC_PURGE_DELAY"] as const;

/** The variables of a program under test. */
export function environment(
  overrides: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  const merged: Record<string, string | undefined> = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    ...Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]])),
    PORT: "0",
    HOST: "127.0.0.1",
    DEMO: "off",
    // Each worker that starts takes a fifth of a second of processor time.
    SEARCH_WORKERS: "1",
    ...overrides,
  };
  if (!("DATA_DIR" in overrides)) merged.DATA_DIR = dataFolder();
  const entries = Object.entries(merged).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined;
  });
  return Object.fromEntries(entries);
}

type Output = { text: string; readonly ended: Promise<void>; changed: () => void };

function collect({ pid, stdout, stderr }: Subprocess<"ignore", "pipe", "pipe">): Output {
  const output = { text: "", changed: () => {} };
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    const logs = new ForwardedLogs(pid);
    for await (const bytes of stream) {
      const text = decoder.decode(bytes, { stream: true });
      output.text += text;
      logs.add(text);
      output.changed();
    }
  };
  const ended = Promise.all([stdout, stderr].map(read)).then(() => {});
  return Object.assign(output, { ended });
}

async function printedUrl(program: Subprocess, output: Output): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  output.changed = () => {
    const url = output.text.match(/listening on (http:\/\/[^\s"]+)/)?.[1];
    if (url !== undefined) resolve(url);
  };
  output.changed();
  program.exited.then(async (status) => {
    await output.ended;
    reject(new Error(`the server ended with status ${status} before it listened:\n${output.text}`));
  });
  const timer = setTimeout(() => {
    reject(new Error(`the server did not listen within ${START_TIMEOUT_MS} ms:\n${output.text}`));
  }, START_TIMEOUT_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}
