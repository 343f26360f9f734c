import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { abbreviate } from "../shared/abbreviate.ts";
import { CommandError } from "./command-error.ts";

const ROOT = join(import.meta.dir, "..", "..");
const FOLDER = "bench";
const OPENING_BYTES = 2_048;

interface Benchmark {
  /** The path below bench/, without its ending. */
  readonly name: string;
  readonly path: string;
  /** The first sentence of the script's opening comment. */
  readonly summary: string;
}

export function benchCommand(): Command {
  return new Command("bench")
    .description("Run a benchmark by its name, or list them all.")
    .argument("[name]", "the benchmark; without one they are listed")
    .argument("[arguments...]", "go to the benchmark as they are")
    .passThroughOptions()
    .allowUnknownOption()
    .addHelpText(
      "after",
      `
Examples:
  bun run tessera bench
  bun run tessera bench micro/native-search --vectors 20000`,
    )
    .action(async (name: string | undefined, args: string[]) => {
      const benchmarks = findBenchmarks(ROOT);
      if (name === undefined) {
        process.stdout.write(listing(benchmarks));
        return;
      }
      const chosen = benchmarks.find((benchmark) => benchmark.name === name);
      if (chosen === undefined) {
        throw new CommandError(
          `there is no benchmark "${abbreviate(name)}": \`bun run tessera bench\` lists them`,
        );
      }
      const child = Bun.spawn([process.execPath, chosen.path, ...args], {
        cwd: ROOT,
        stdio: ["inherit", "inherit", "inherit"],
      });
      if ((await child.exited) !== 0) throw new CommandError(`the benchmark ${name} failed`);
    });
}

/** The scripts below bench/ whose opening comment says how to run them: `bun bench/…`. */
export function findBenchmarks(root: string): Benchmark[] {
  const benchmarks: Benchmark[] = [];
  const files = readdirSync(join(root, FOLDER), { recursive: true, encoding: "utf8" });
  for (const file of files.sort()) {
    if (!file.endsWith(".ts")) continue;
    const path = `${FOLDER}/${file.replaceAll("\\", "/")}`;
    const opening = openingComment(join(root, path));
    if (!opening.includes(`bun ${path}`)) continue;
    const summary = opening.split(/\.(?:\s|$)/, 1)[0] ?? "";
    benchmarks.push({ name: path.slice(FOLDER.length + 1, -".ts".length), path, summary });
  }
  return benchmarks;
}

function openingComment(path: string): string {
  const buffer = Buffer.alloc(OPENING_BYTES);
  const file = openSync(path, "r");
  const length = readSync(file, buffer, 0, OPENING_BYTES, 0);
  closeSync(file);
  const comment = /^\s*\/\*\*([\s\S]*?)\*\//.exec(buffer.toString("utf8", 0, length))?.[1] ?? "";
  return comment.replace(/^\s*\* ?/gm, "").trim();
}

function listing(benchmarks: readonly Benchmark[]): string {
  const width = Math.max(0, ...benchmarks.map(({ name }) => name.length));
  const lines = benchmarks.map(({ name, summary }) => {
    return `${name.padEnd(width)}  ${summary.replace(/\s+/g, " ")}`;
  });
  return `${lines.join("\n")}\n`;
}
