import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { abbreviate } from "../domain/abbreviate.ts";
import { ROOT } from "../ops/config/caller.ts";
import { newCommand } from "./command.ts";
import { CommandError } from "./command-error.ts";
import type { Io } from "./io.ts";
import { print } from "./output.ts";

const FOLDER = "bench";
const COMMENT_MAX_BYTES = 2_048;

interface Benchmark {
  /** The path below bench/, without the extension. */
  readonly name: string;
  readonly path: string;
  /** The first sentence of the script's first comment. */
  readonly summary: string;
}

export function benchCommand(io: Io): Command {
  return newCommand("bench")
    .argument("[name]", "name of the benchmark; without it, all are listed")
    .argument("[arguments...]", "passed to the benchmark unchanged")
    .passThroughOptions()
    .allowUnknownOption()
    .action(async (name: string | undefined, args: string[]) => {
      const benchmarks = findBenchmarks(ROOT);
      if (name === undefined) {
        print(io, formatList(benchmarks));
        return;
      }
      // `bench load` is short for `bench load/run`.
      const chosen = [name, `${name}/run`]
        .map((wanted) => benchmarks.find((benchmark) => benchmark.name === wanted))
        .find((benchmark) => benchmark !== undefined);
      if (chosen === undefined) {
        throw new CommandError(
          `unknown benchmark "${abbreviate(name)}"; \`./tessera bench\` lists all`,
        );
      }
      const child = Bun.spawn([process.execPath, chosen.path, ...args], {
        cwd: ROOT,
        stdio: ["inherit", "inherit", "inherit"],
      });
      if ((await child.exited) !== 0) throw new CommandError(`the benchmark ${name} failed`);
    });
}

/** Finds the scripts below bench/ whose first comment contains their command, `bun bench/...`. */
function findBenchmarks(root: string): Benchmark[] {
  const benchmarks: Benchmark[] = [];
  const files = readdirSync(join(root, FOLDER), { recursive: true, encoding: "utf8" });
  for (const file of files.sort()) {
    if (!file.endsWith(".ts")) continue;
    const path = `${FOLDER}/${file.replaceAll("\\", "/")}`;
    const comment = firstComment(join(root, path));
    if (!comment.includes(`bun ${path}`)) continue;
    const summary = comment.split(/\.(?:\s|$)/, 1)[0] ?? "";
    benchmarks.push({ name: path.slice(FOLDER.length + 1, -".ts".length), path, summary });
  }
  return benchmarks;
}

function firstComment(path: string): string {
  const buffer = Buffer.alloc(COMMENT_MAX_BYTES);
  const file = openSync(path, "r");
  const length = readSync(file, buffer, 0, COMMENT_MAX_BYTES, 0);
  closeSync(file);
  const comment = /^\s*\/\*\*([\s\S]*?)\*\//.exec(buffer.toString("utf8", 0, length))?.[1] ?? "";
  return comment.replace(/^\s*\* ?/gm, "").trim();
}

function formatList(benchmarks: readonly Benchmark[]): string {
  const width = Math.max(0, ...benchmarks.map(({ name }) => name.length));
  const lines = benchmarks.map(({ name, summary }) => {
    return `${name.padEnd(width)}  ${summary.replace(/\s+/g, " ")}`;
  });
  return `${lines.join("\n")}\n`;
}
