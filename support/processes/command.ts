import { Readable, Writable } from "node:stream";
import { run } from "../../src/cli/run.ts";
import { type CommandResult, environment } from "./process.ts";

interface CallOptions {
  /** Environment variables over the defaults; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string | Uint8Array;
  /** Makes all three streams terminals of this width. */
  readonly columns?: number;
  /** Why nothing can be written to standard output: `EPIPE` if its reader has gone. */
  readonly brokenBy?: string;
}

/** Collects what is written to it. */
class Collected extends Writable {
  readonly #pieces: Buffer[] = [];
  fault: Error | undefined;

  override _write(piece: Buffer, _encoding: string, done: (fault?: Error) => void): void {
    if (this.fault !== undefined) {
      // An empty piece writes nothing, so a pipe does not notice it either.
      done(piece.length === 0 ? undefined : this.fault);
      return;
    }
    this.#pieces.push(piece);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString();
  }
}

/** Runs a `tessera` command within this process. `runCommand` runs it in a process of its own. */
export async function callCommand(
  args: readonly string[],
  { env, stdin, columns, brokenBy }: CallOptions = {},
): Promise<CommandResult> {
  const terminal = columns === undefined ? {} : { isTTY: true, columns };
  const [stdout, stderr] = [new Collected(), new Collected()].map((stream) =>
    Object.assign(stream, terminal),
  ) as [Collected, Collected];
  if (brokenBy !== undefined) stdout.fault = Object.assign(new Error("no"), { code: brokenBy });
  const input = Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)]);
  const io = { stdin: Object.assign(input, terminal), stdout, stderr, env: environment(env) };
  const status = await run(args, io);
  return { status, stdout: stdout.text, stderr: stderr.text };
}
