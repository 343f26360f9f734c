import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onCleanup } from "../../support/cleanup.ts";
import { asOrdinaryUser, installForOrdinaryUser } from "../../support/processes/installation.ts";
import { freePort } from "../../support/processes/ports.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";

/** A block of a page, between lines of three backticks. */
interface Block {
  readonly language: string;
  readonly text: string;
}

/** Commands that are not run here: this test is a part of it. */
const NOT_RUN = ["npm test\n"];
const START = "npm start\n";
/** The start prints this last. */
const END_OF_START = "Set DEMO=off";
/** Of the terminal that commands are run in. */
const TERMINAL = { cols: 80, rows: 24 };

/** The blocks in order, without other languages than those of commands and of what they print. */
function blocksOf(page: string): Block[] {
  const text = readFileSync(join(PROJECT_ROOT, page), "utf8");
  return [...text.matchAll(/^```(sh|text|json|js)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", body = ""]) => ({ language, text: body }),
  );
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

/**
 * Expects a value of the example's shape: the same fields, and values of the same types. An example that is
 * not whole, because it has `...`, shows some of the fields.
 */
function expectShape(
  value: unknown,
  example: unknown,
  isWhole: boolean,
  place = "the answer",
): void {
  if (Array.isArray(example)) {
    expect(Array.isArray(value), place).toBe(true);
    for (const [i, item] of example.entries()) {
      expectShape((value as unknown[])[i], item, isWhole, `${place}[${i}]`);
    }
  } else if (typeof example === "object" && example !== null) {
    const fields = Object.keys(value as object);
    const shown = Object.keys(example);
    if (isWhole) expect(fields.sort(), place).toEqual(shown.sort());
    else expect(fields, place).toEqual(expect.arrayContaining(shown));
    for (const [name, member] of Object.entries(example)) {
      expectShape((value as Record<string, unknown>)[name], member, isWhole, `${place}.${name}`);
    }
  } else {
    expect(example === null ? value : typeof value, place).toBe(
      example === null ? null : (typeof example as never),
    );
  }
}

const jsonOf = (text: string) => JSON.parse(text.replace(/,\s*\.\.\./g, ""));

const COLOURS = /\x1b\[[\d;]*m/g;
/** What moves the cursor, as a progress bar does: the text after it is a line of its own. */
const MOVES = /\r|\x1b(?:[78]|\[[\d;?]*[A-Za-z])/g;

/** A user with an installation outside the repository, on another port than the default one. */
class User {
  readonly #installation = installForOrdinaryUser();
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
  }

  static async create(): Promise<User> {
    return new User(await freePort());
  }

  /** Of this process only the programs: the service and its commands get nothing else. */
  #variables(more: Readonly<Record<string, string>> = {}) {
    const { home } = this.#installation;
    const { PATH = "/usr/bin:/bin" } = process.env;
    return { PATH, HOME: home, npm_config_update_notifier: "false", TERM: "xterm", ...more };
  }

  /** README's addresses and folders as they are here, or the other way round. */
  readonly here = (text: string) => text.replaceAll("127.0.0.1:3000", `127.0.0.1:${this.#port}`);
  readonly #shown = (text: string) => text.replaceAll(this.#installation.root, "/home/you/tessera");

  /** Starts the service and returns what it has printed, once it has started. */
  async start(command: string): Promise<string> {
    const service = Bun.spawn(asOrdinaryUser("sh", "-c", `exec ${command}`), {
      ...{ cwd: this.#installation.root, env: this.#variables({ PORT: String(this.#port) }) },
      ...{ stdout: "pipe", stderr: "inherit" },
      // npm starts further processes, which the signal has to reach.
      detached: true,
    });
    onCleanup(async () => {
      if (service.exitCode === null) process.kill(-service.pid, "SIGTERM");
      await service.exited;
    });
    let printed = "";
    const decoder = new TextDecoder();
    for await (const piece of service.stdout) {
      printed += decoder.decode(piece, { stream: true });
      if (printed.includes(END_OF_START)) break;
    }
    return printed;
  }

  /** Saves a file in the folder of the installation. */
  save(name: string, text: string): void {
    writeFileSync(join(this.#installation.root, name), this.here(text));
  }

  /** Runs a block that goes on until the test ends. */
  async begin(script: string): Promise<void> {
    const { root, home } = this.#installation;
    const lines = `KEY=$(cat ${join(home, "key")})\n${this.here(script)}`;
    const program = Bun.spawn(asOrdinaryUser("sh", "-c", lines), {
      ...{ cwd: root, env: this.#variables(), stdout: "ignore", stderr: "inherit" },
      detached: true,
    });
    onCleanup(async () => {
      if (program.exitCode === null) process.kill(-program.pid, "SIGTERM");
      await program.exited;
    });
  }

  /** Runs a block; a question that finds nothing yet is asked until it does. */
  async untilAnswered(script: string): Promise<string> {
    for (;;) {
      const printed = await this.run(script);
      const isQuestion = /retrieve|search\?/.test(script);
      const isEarly = isQuestion ? /"data": ?\[\]/ : /"embeddings_waiting":[1-9]/;
      if (!isEarly.test(printed)) return printed;
    }
  }

  /** Runs a block in a shell that knows `$KEY` and returns what the terminal shows. */
  async run(script: string): Promise<string> {
    const { root, home } = this.#installation;
    const file = join(home, "key");
    const lines = [`KEY=$(cat ${file} 2>/dev/null || true)`, this.here(script)];
    lines.push(`printf %s "$KEY" > ${file}`);
    let shown = "";
    const decoder = new TextDecoder();
    const data = (_: unknown, bytes: Uint8Array) => {
      shown += decoder.decode(bytes, { stream: true });
    };
    const shell = Bun.spawn(asOrdinaryUser("sh", "-ec", lines.join("\n")), {
      ...{ cwd: root, env: this.#variables(), terminal: { ...TERMINAL, data } },
    });
    expect(await shell.exited, `${script}\n${shown}`).toBe(0);
    const text = shown.replaceAll("\r\n", "\n").replace(COLOURS, "").replace(MOVES, "\n");
    return this.#shown(text);
  }
}

/** Where the page about building search saves its program, and the port of that. */
const PROGRAM = "search-box.mjs";
const PROGRAM_PORT = "8080";

/** Compares what commands have printed with the block that follows them in the README. */
function compare(printed: string, { language, text }: Block): void {
  if (language === "text") expectLines(printed, text);
  else {
    const answer = printed.split("\n").findLast((line) => line.startsWith("{")) ?? "";
    expectShape(JSON.parse(answer), jsonOf(text), !text.includes("..."));
  }
}

/** Runs the commands of a page in order and compares what they print with the block that follows. */
async function follow(user: User, page: string): Promise<{ commands: number; answers: number }> {
  /** What the last command has printed, until it is compared with a block. */
  let printed: string | undefined;
  let [commands, answers] = [0, 0];
  for (const { language, text } of blocksOf(page)) {
    if (language === "sh") {
      printed = undefined;
      if (NOT_RUN.includes(text)) continue;
      commands++;
      printed = text === START ? await user.start(text) : await user.run(text);
      continue;
    }
    if (printed === undefined) continue;
    answers++;
    compare(printed, { language, text: user.here(text) });
    // The start prints a command that works, and its key.
    const curl = /^ {2}(curl .*)$/m.exec(printed)?.[1];
    if (printed.includes(END_OF_START)) {
      expect(await user.run(`KEY=${/tsr_\w+/.exec(printed)?.[0]}\n${curl}`)).toContain('"score":');
    }
    printed = undefined;
    if (text.includes("imported ")) {
      await user.run("./tessera index status --wait --project handbook");
    }
  }
  return { commands, answers };
}

test("every command of the README and of the API's page works for an ordinary user in another folder and on another port, and prints what is shown", async () => {
  const user = await User.create();
  expect(await follow(user, "README.md")).toEqual({ commands: 5, answers: 4 });
  expect(await follow(user, "docs/api.md")).toEqual({ commands: 2, answers: 2 });
  await buildSearch(user);
});

/** Runs what the page about building search shows, beside the service that the README has started. */
async function buildSearch(user: User): Promise<void> {
  const port = String(await freePort());
  const here = (text: string) => text.replaceAll(PROGRAM_PORT, port);
  const printed: string[] = [];
  let [programs, answers] = [0, 0];
  for (const { language, text } of blocksOf("docs/build-search.md")) {
    if (text === START) continue;
    if (language === "js") user.save(PROGRAM, here(text));
    else if (text.includes(`node ${PROGRAM}`)) {
      programs++;
      await user.begin(here(text));
    } else if (language === "sh") {
      printed.push(await user.untilAnswered(here(text)));
    } else {
      answers++;
      compare(printed.at(-1) ?? "", { language, text });
    }
  }
  expect({ programs, answers }).toEqual({ programs: 1, answers: 1 });
  expect(printed.at(-1)).toContain("Kale survives frost");
}
