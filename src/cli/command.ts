import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { ROOT } from "../config/caller.ts";

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

/**
 * A command whose help is its section of the page: a sentence, paragraphs, and examples as indented code.
 *
 * @param name with that of its group, such as `keys list`
 */
export function newCommand(name: string): Command {
  const [about = "", ...paragraphs] = sectionOf(name).split("\n\n");
  const help = paragraphs.map((text) =>
    text.startsWith("    ") ? `Examples:\n${text.replace(/^ {4}/gm, "  ")}` : text,
  );
  return new Command(name.split(" ").at(-1))
    .description(about)
    .addHelpText("after", `\n${help.join("\n\n")}`);
}

/** A command that only has others. */
export function newGroup(name: string, about: string, commands: readonly Command[]): Command {
  const group = new Command(name).description(about);
  for (const each of commands) group.addCommand(each);
  return group;
}
