import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import { ROOT } from "../ops/config/caller.ts";
import { url } from "./options.ts";

/** The page that describes the commands, each in a section. */
const PAGE = join(ROOT, "docs", "commands.md");
const SECTION = /^### (.+)\n\n([\s\S]+?)\n(?=\n#|$(?![\s\S]))/gm;

let sections: ReadonlyMap<string, string> | undefined;

function sectionOf(name: string): string {
  sections ??= new Map(
    [...pageText().matchAll(SECTION)].map(([, title = "", text = ""]) => [title, text]),
  );
  return sections.get(name) ?? "";
}

/** Commands work without their page, too. */
function pageText(): string {
  try {
    return readFileSync(PAGE, "utf8");
  } catch {
    return "";
  }
}

/** The options that several commands share, as commander passes them. A command has those that it declares. */
export interface Flags {
  readonly project: string;
  readonly environment: string;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly create?: boolean;
  readonly wait: boolean;
}

const SHARED = {
  project: () => new Option("--project <slug>", "the project").makeOptionMandatory(),
  environment: () => new Option("--environment <name>", "the environment").default("production"),
  json: () => new Option("--json", "print JSON lines instead of a table"),
  yes: () => new Option("--yes", "do not ask"),
  wait: () => new Option("--no-wait", "end before searches of a running service see the change"),
  create: () => new Option("--create", "create the embedded database if DATA_DIR has no database"),
  url: () => new Option("--url <url>", "address of the service").argParser(url),
  key: () => new Option("--key <key>", "API key; default: TESSERA_API_KEY"),
};

/**
 * A command whose help is its section of the page: a sentence, paragraphs, and examples as indented code.
 *
 * @param name with that of its group, such as `keys list`
 * @param shared the shared options that it has
 */
export function newCommand(name: string, ...shared: (keyof typeof SHARED)[]): Command {
  const [about = "", ...paragraphs] = sectionOf(name).split("\n\n");
  const help = paragraphs.map((text) =>
    text.startsWith("    ") ? `Examples:\n${text.replace(/^ {4}/gm, "  ")}` : text,
  );
  const command = new Command(name.split(" ").at(-1))
    .description(about)
    .addHelpText("after", `\n${help.join("\n\n")}`);
  return addOptions(
    command,
    shared.map((option) => SHARED[option]()),
  );
}

/** A command that only has others. */
export function newGroup(name: string, about: string, commands: readonly Command[]): Command {
  const group = new Command(name).description(about);
  for (const each of commands) group.addCommand(each);
  return group;
}

/** Adds options that commands share. */
export function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option);
  return command;
}

/** Exits with a usage error if an option is given without the one that it needs. */
export function requireWith(command: Command, names: readonly string[], needed: string): void {
  const given = command.options.find(
    (option) =>
      names.includes(option.attributeName()) &&
      command.getOptionValueSource(option.attributeName()) === "cli",
  );
  if (given !== undefined) command.error(`error: ${given.long} requires ${needed}`);
}
