import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onCleanup } from "../../support/cleanup.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { freePort } from "../../support/processes/ports.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";

/** A block of README.md, between lines of three backticks. */
interface Block {
  readonly language: string;
  readonly text: string;
}

/** The blocks of a section in order. */
function blocksOf(section: string): Block[] {
  const text = readFileSync(join(PROJECT_ROOT, "README.md"), "utf8");
  const [, rest = ""] = text.split(`\n## ${section}\n`);
  const [own = ""] = rest.split("\n## ");
  return [...own.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", body = ""]) => ({
    language,
    text: body,
  }));
}

/** Makes lines comparable whose numbers, dates, keys and columns differ from run to run. */
function shapeOf(line: string): string {
  return line
    .replace(/tsr_\w+/g, "KEY")
    .replace(/\d{4}-\d\d-\d\d/g, "DATE")
    .replace(/\d[\d.,]*/g, "N")
    .replace(/ {2,}/g, "  ")
    .trimEnd();
}

/** Expects the lines of an example in the output, in order. A line may end with `...`. */
function expectLines(output: string, example: string): void {
  let rest = output.split("\n").map(shapeOf);
  for (const line of example.split("\n").filter((each) => each.trim() !== "")) {
    const wanted = shapeOf(line);
    const start = wanted.endsWith("...") ? wanted.slice(0, -3) : undefined;
    const at = rest.findIndex((each) => {
      return start === undefined ? each === wanted : each.startsWith(start);
    });
    expect(at, `"${line}" in:\n${output}`).toBeGreaterThanOrEqual(0);
    rest = rest.slice(at + 1);
  }
}

/** Expects a value of the example's shape: the same fields, and values of the same types. */
function expectShape(value: unknown, example: unknown, place = "the answer"): void {
  if (Array.isArray(example)) {
    expect(Array.isArray(value), place).toBe(true);
    for (const [i, item] of example.entries()) {
      expectShape((value as unknown[])[i], item, `${place}[${i}]`);
    }
  } else if (typeof example === "object" && example !== null) {
    expect(Object.keys(value as object).sort(), place).toEqual(Object.keys(example).sort());
    for (const [name, member] of Object.entries(example)) {
      expectShape((value as Record<string, unknown>)[name], member, `${place}.${name}`);
    }
  } else {
    expect(example === null ? value : typeof value, place).toBe(
      example === null ? null : (typeof example as never),
    );
  }
}

const jsonOf = (text: string) => JSON.parse(text.replace(/,\s*\.\.\./g, ""));

test("every command of the README works as it is printed, and answers in the shape that is shown", async () => {
  const port = String(await freePort());
  const env = {
    ...{
      PATH: `${join(process.execPath, "..")}:${process.env["PATH"]}`,
      HOME: process.env["HOME"],
    },
    ...{ PORT: port, DATA_DIR: dataFolder(), npm_config_update_notifier: "false" },
  };
  const here = (text: string) => text.replaceAll("127.0.0.1:3000", `127.0.0.1:${port}`);
  const run = async (script: string) => {
    const shell = Bun.spawn(["sh", "-ec", script], { cwd: PROJECT_ROOT, env, stderr: "pipe" });
    const [stdout, stderr, status] = await Promise.all([
      shell.stdout.text(),
      shell.stderr.text(),
      shell.exited,
    ]);
    expect(status, `${script}\n${stderr}`).toBe(0);
    return stdout;
  };

  const [start, banner, searched, lookup, found] = blocksOf("Start") as [
    ...[Block, Block, Block, Block, Block],
  ];
  const service = Bun.spawn(["sh", "-c", `exec ${start.text}`], {
    ...{ cwd: PROJECT_ROOT, env, stdout: "pipe", stderr: "ignore" },
    // npm starts further processes, which the signal has to reach.
    detached: true,
  });
  const stop = onCleanup(async () => {
    if (service.exitCode === null) process.kill(-service.pid, "SIGTERM");
    await service.exited;
  });
  let printed = "";
  const decoder = new TextDecoder();
  for await (const piece of service.stdout) {
    printed += decoder.decode(piece, { stream: true });
    if (printed.includes("DEMO=off")) break;
  }
  expectLines(printed, here(banner.text));
  const curl = /^ {2}(curl .*)$/m.exec(printed)?.[1] as string;
  expectShape(JSON.parse(await run(curl)), jsonOf(searched.text));
  const key = /tsr_\w+/.exec(printed)?.[0];
  const looked = await run(`KEY=${key}\n${here(lookup.text)}`);
  expectShape(JSON.parse(looked), jsonOf(found.text));

  const [imported, summary, query, tables, byKey, write, report] = blocksOf("Your own files") as [
    ...[Block, Block, Block, Block, Block, Block, Block],
  ];
  expectLines(await run(imported.text), summary.text);
  const queried = await run(query.text);
  expectLines(queried, tables.text);
  expect(queried).toContain("import-format.md");
  // One shell, because the second block uses the key of the first one.
  const separator = "=====";
  const output = await run(`${here(byKey.text)}\necho ${separator}\n${here(write.text)}`);
  const [answer = "", result = ""] = output.split(separator);
  expect(JSON.parse(answer).data[0].chunk.file_path).toEndWith(".md");
  expect(JSON.parse(result)).toEqual(jsonOf(report.text));
  await stop();
});
