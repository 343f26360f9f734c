import { Command } from "commander";
import { type ImportSummary, importItems } from "../import/importer.ts";
import { importMarkdown, type MarkdownOptions } from "../import/markdown/import-markdown.ts";
import { readItems } from "../import/placement/items.ts";
import { findSources, type Source } from "../import/records/source.ts";
import { Reporter } from "../import/reporter.ts";
import { withDatabase } from "./database.ts";
import { email, url } from "./options.ts";

interface Options extends Partial<MarkdownOptions> {
  readonly strict?: boolean;
  readonly markdown?: string;
}

const MARKDOWN_ONLY = [
  ["project", "--project"],
  ["owner", "--owner"],
  ["embedUrl", "--embed-url"],
  ["embedModel", "--embed-model"],
  ["embedDimension", "--embed-dimension"],
  ["prune", "--prune"],
  ["environment", "--environment"],
] as const;

export function importCommand(): Command {
  const command = new Command("import")
    .description("Import records from NDJSON files, or a folder of Markdown.")
    .argument("[file...]", "NDJSON files, .gz and .zst too; - for standard input")
    .option("--strict", "keep nothing if a single line is refused")
    .option("--markdown <dir>", "import the .md and .mdx files of a folder instead")
    .option("--project <slug>", "with --markdown: the project; created when it does not exist")
    .option("--environment <name>", 'with --markdown: the environment (default: "production")')
    .option("--owner <email>", "with --markdown: who owns a project that is created", email)
    .option("--prune", "with --markdown: take files out of the environment that are gone")
    .option("--embed-url <url>", "with --markdown: an OpenAI-compatible endpoint", url)
    .option("--embed-model <name>", "the model to ask for; needed with --embed-url")
    .option("--embed-dimension <n>", "ask the model for this many dimensions", Number)
    .addHelpText(
      "after",
      `
One JSON object a line; docs/import-format.md describes all record kinds. A bad line is reported
as FILE:LINE: reason and the others are kept; the exit status is then 1. Importing the same file
again changes nothing, so an import that was interrupted is simply run again.

Without --embed-url, Markdown is embedded by feature hashing, which is meant for demonstrations.
EMBED_API_KEY is sent to the endpoint as a bearer token.

Examples:
  bun run tessera import project.ndjson files.ndjson.zst
  zcat export.ndjson.gz | bun run tessera import --strict -
  bun run tessera import --markdown ./docs --project handbook
  bun run tessera import --markdown ./docs --project handbook --environment staging --prune \\
    --embed-url http://127.0.0.1:11434/v1/embeddings --embed-model nomic-embed-text`,
    );
  return command.action(async (files: string[], options: Options) => {
    requireConsistency(command, files, options);
    const summary =
      options.markdown === undefined
        ? await importFiles(files, options.strict === true)
        : await importMarkdown(options.markdown, options as MarkdownOptions);
    if (summary.refused > 0) process.exitCode = 1;
  });
}

/** Wrong combinations of options are wrong usage. */
function requireConsistency(command: Command, files: readonly string[], options: Options): void {
  if (options.markdown === undefined) {
    const stray = MARKDOWN_ONLY.find(([name]) => options[name] !== undefined);
    if (stray !== undefined) command.error(`error: ${stray[1]} needs --markdown`);
    if (files.length === 0) command.error("error: name at least one file, or - for standard input");
    if (files.filter((file) => file === "-").length > 1) {
      command.error("error: standard input can be read only once");
    }
    return;
  }
  if (files.length > 0) command.error("error: --markdown takes a folder and no files besides");
  if (options.project === undefined) command.error("error: --markdown needs --project");
  if ((options.embedUrl === undefined) !== (options.embedModel === undefined)) {
    command.error("error: --embed-url and --embed-model need one another");
  }
}

async function importFiles(files: readonly string[], strict: boolean): Promise<ImportSummary> {
  const sources = await findSources(files);
  return await withDatabase(async (sql) => {
    const reporter = new Reporter(totalSize(sources), "bytes");
    try {
      const items = readItems(sources, (bytes) => reporter.advance(bytes), reporter.stray);
      const summary = await importItems(sql, items, {
        strict,
        onError: reporter.error,
        onKept: (kinds) => reporter.kept(kinds),
      });
      reporter.stop();
      process.stdout.write(reporter.summary(summary, strict));
      return summary;
    } finally {
      reporter.stop();
    }
  });
}

/** Bytes of all sources together; null when one of them does not tell. */
function totalSize(sources: readonly Source[]): number | null {
  let total = 0;
  for (const { size } of sources) {
    if (size === null) return null;
    total += size;
  }
  return total;
}
