import { Command } from "commander";
import { chooseEmbedder } from "../import/markdown/import-markdown.ts";
import { embeddingOf } from "../import/placement/embedding.ts";
import {
  DIMENSIONS,
  EMBED_HASHING_THRESHOLD,
  SEARCH_LIMIT_DEFAULT,
  SEARCH_LIMIT_MAX,
} from "../shared/limits.ts";
import { CommandError } from "./command-error.ts";
import { url } from "./options.ts";

interface Options {
  readonly limit: number;
  readonly threshold?: number;
  readonly array?: boolean;
  readonly embedUrl?: string;
  readonly embedModel?: string;
  readonly embedDimension?: number;
}

export function embedCommand(): Command {
  const command = new Command("embed")
    .description("Print the body of a vector search for a text.")
    .argument("<text>", "what to search for")
    .option("--limit <n>", "results to ask for", Number, SEARCH_LIMIT_DEFAULT)
    .option(
      "--threshold <score>",
      `the least score of a result, 0 to 1 (${EMBED_HASHING_THRESHOLD} without --embed-url)`,
      Number,
    )
    .option("--array", "print the vector as an array of numbers instead of base64")
    .option("--embed-url <url>", "an OpenAI-compatible endpoint, as for import --markdown", url)
    .option("--embed-model <name>", "the model to ask for; needed with --embed-url")
    .option("--embed-dimension <n>", `one of ${DIMENSIONS.join(", ")}`, Number)
    .addHelpText(
      "after",
      `
Use the embedder that the searched files were imported with: without --embed-url that is the
feature hashing of \`import --markdown\`.

Examples:
  bun run tessera embed "how do snapshots work" |
    curl -s http://127.0.0.1:3000/projects/demo/environments/production/search \\
      -H "X-API-Key: $KEY" -H "Content-Type: application/json" --data-binary @-`,
    );
  return command.action(async (text: string, options: Options) => {
    if ((options.embedUrl === undefined) !== (options.embedModel === undefined)) {
      command.error("error: --embed-url and --embed-model need one another");
    }
    const { limit, threshold } = options;
    if (!(limit >= 1 && limit <= SEARCH_LIMIT_MAX)) {
      command.error(`error: --limit must be from 1 to ${SEARCH_LIMIT_MAX}`);
    }
    if (threshold !== undefined && !(threshold >= 0 && threshold <= 1)) {
      command.error("error: --threshold must be from 0 to 1");
    }
    if (text.trim() === "") throw new CommandError("there is no text to embed");
    const vector = await chooseEmbedder(options).embedQuery(text);
    const hashed = options.embedUrl === undefined ? { threshold: EMBED_HASHING_THRESHOLD } : {};
    process.stdout.write(`${JSON.stringify(searchBody(vector, { ...hashed, ...options }))}\n`);
  });
}

/** The body of a vector search. */
export function searchBody(
  vector: Float32Array,
  { limit, threshold, array = false }: Pick<Options, "limit" | "threshold" | "array">,
): object {
  const { dimension, base64 } = embeddingOf(vector);
  return {
    vector: array ? [...vector] : base64,
    dimension,
    limit,
    ...(threshold === undefined ? {} : { threshold }),
  };
}
