import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { onCleanup } from "../../support/cleanup.ts";
import { freePort } from "../../support/processes/ports.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { type Block, blocksOf, jsonDifference, missingLine } from "./document-examples.ts";
import { asOrdinaryUser, installForOrdinaryUser } from "./installation.ts";

/** The public part of the key that the README shows as that of the start. */
const SHOWN_KEY = "tsr_sOWhT3MFNPXL";
const START = "npm start\n";
/** The start prints this last. */
const END_OF_START = "Set DEMO=off";
/** Of the terminal that commands are run in. */
const TERMINAL = { cols: 80, rows: 24 };

const COLOURS = /\x1b\[[\d;]*m/g;
/** What moves the cursor, as a progress bar does: the text after it is a line of its own. */
const MOVES = /\r|\x1b(?:[78]|\[[\d;?]*[A-Za-z])/g;

/** A user with an installation outside the repository, on another port than the default one. */
class User {
  readonly #installation = installForOrdinaryUser();
  readonly #port: number;
  readonly #address: string;

  private constructor(port: number) {
    this.#port = port;
    this.#address = `http://127.0.0.1:${port}`;
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

  /** Addresses, and the key that the README shows, as they are here. */
  readonly here = (text: string) =>
    text
      .replaceAll(/https:\/\/search\.example\.com|http:\/\/127\.0\.0\.1:3000/g, this.#address)
      .replaceAll(SHOWN_KEY, this.firstKey ?? SHOWN_KEY);
  /** The public part of the key that the start has printed. */
  firstKey: string | undefined;
  /** Folders as pages show them. */
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
      const isEarly = isQuestion ? /"data": ?\[\]/ : /"embeddings_waiting":[1-9]|"complete":false/;
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

/** Compares what commands have printed with the block that follows them. */
function compare(printed: string, { language, text }: Block): void {
  const answer = printed.split("\n").findLast((line) => line.startsWith("{")) ?? "";
  const fault = language === "text" ? missingLine(printed, text) : jsonDifference(answer, text);
  expect(fault, `in:\n${printed}`).toBeUndefined();
}

interface Followed {
  readonly commands: number;
  readonly answers: number;
  readonly notRun: number;
}

/** Runs the commands of a page in order and compares what they print with the block that follows. */
async function follow(user: User, page: string): Promise<Followed> {
  /** What the last command has printed, until it is compared with a block. */
  let printed: string | undefined;
  let [commands, answers, notRun] = [0, 0, 0];
  for (const block of blocksOf(page)) {
    const { language, text } = block;
    if (language === "sh") {
      printed = undefined;
      if (block.notRun !== undefined) {
        notRun++;
        continue;
      }
      commands++;
      printed = text === START ? await user.start(text) : await user.run(text);
      continue;
    }
    if (printed === undefined) continue;
    answers++;
    compare(printed, { ...block, text: user.here(text) });
    // The start prints a command that works, and its key.
    const curl = /^ {2}(curl .*)$/m.exec(printed)?.[1];
    if (printed.includes(END_OF_START)) {
      const key = /tsr_\w+/.exec(printed)?.[0] as string;
      user.firstKey = key.slice(0, key.lastIndexOf("_"));
      expect(await user.run(`KEY=${key}\n${curl}`)).toContain('"score":');
    }
    printed = undefined;
    if (text.includes("imported ")) {
      await user.run("./tessera index status --wait --project handbook");
    }
  }
  return { commands, answers, notRun };
}

/** The blocks of pages that are followed one after the other, beside one service. */
const FOLLOWED: Readonly<Record<string, Followed>> = {
  "README.md": { commands: 5, answers: 4, notRun: 0 },
  "docs/api.md": { commands: 2, answers: 2, notRun: 0 },
  "docs/sync.md": { commands: 1, answers: 1, notRun: 0 },
  "docs/mcp.md": { commands: 1, answers: 0, notRun: 1 },
  "docs/operations.md": { commands: 1, answers: 0, notRun: 2 },
  "docs/credentials.md": { commands: 2, answers: 0, notRun: 0 },
  "docs/platform.md": { commands: 6, answers: 6, notRun: 0 },
};

/** Pages whose commands are run by `buildSearch`, or all marked as not run. */
const BUILD_SEARCH = "docs/build-search.md";
const NOT_RUN: Readonly<Record<string, number>> = {
  "docs/import-format.md": 3,
  "docs/migration.md": 1,
  "docs/models.md": 1,
  "docs/nodes.md": 1,
  "docs/release.md": 2,
};

test("every command in the README and the documents is run, or says why not in a comment before it", () => {
  const pages = ["README.md", ...new Glob("docs/*.md").scanSync({ cwd: PROJECT_ROOT })];
  const others: Record<string, number> = {};
  for (const page of pages) {
    if (page in FOLLOWED || page === BUILD_SEARCH) continue;
    const commands = blocksOf(page).filter(({ language }) => language === "sh");
    const unmarked = commands.filter(({ notRun }) => notRun === undefined);
    expect(unmarked, page).toEqual([]);
    if (commands.length > 0) others[page] = commands.length;
  }
  expect(others).toEqual(NOT_RUN);
});

test("every command of these pages works for an ordinary user in another folder and on another port, and prints the shown output, numbers included", async () => {
  const user = await User.create();
  for (const [page, followed] of Object.entries(FOLLOWED)) {
    expect(await follow(user, page), page).toEqual(followed);
  }
  await buildSearch(user);
});

/** Runs what the page about building search shows, beside the service that the README has started. */
async function buildSearch(user: User): Promise<void> {
  const port = String(await freePort());
  const here = (text: string) => text.replaceAll(PROGRAM_PORT, port);
  const printed: string[] = [];
  let [programs, answers] = [0, 0];
  for (const block of blocksOf(BUILD_SEARCH)) {
    const { language, text } = block;
    if (text === START) continue;
    if (language === "js") user.save(PROGRAM, here(text));
    else if (text.includes(`node ${PROGRAM}`)) {
      programs++;
      await user.begin(here(text));
    } else if (language === "sh") {
      printed.push(await user.untilAnswered(here(text)));
    } else {
      answers++;
      compare(printed.at(-1) ?? "", block);
    }
  }
  expect({ programs, answers }).toEqual({ programs: 1, answers: 3 });
  expect(printed.at(-1)).toContain("Kale survives frost");
}
