import type { Command } from "commander";
import {
  EMBED_HASHING_THRESHOLD,
  SEARCH_LIMIT_DEFAULT,
  SEARCH_LIMIT_MAX,
} from "../domain/limits.ts";
import { searchBody } from "../embed/embedders/search-body.ts";
import { addOptions, newCommand } from "./command.ts";
import { CommandError } from "./command-error.ts";
import {
  createEmbedder,
  type EmbedderOptions,
  embedderOptions,
  requireValidEmbedder,
  usesHashing,
} from "./embedder-options.ts";
import type { Io } from "./io.ts";
import { between, score } from "./options.ts";
import { jsonLine, print } from "./output.ts";

interface Options extends EmbedderOptions {
  readonly limit: number;
  readonly threshold?: number;
  readonly array?: boolean;
}

const LIMIT = between(1, SEARCH_LIMIT_MAX);

export function embedCommand(io: Io): Command {
  const command = newCommand("embed")
    .argument("<text>", "text to search for")
    .option("--limit <n>", "maximum number of results", LIMIT, SEARCH_LIMIT_DEFAULT)
    .option(
      "--threshold <score>",
      `minimum score of a result, 0 to 1 (default: ${EMBED_HASHING_THRESHOLD} without --embed-url)`,
      score,
    )
    .option("--array", "print the vector as an array of numbers instead of base64");
  return addOptions(command, embedderOptions()).action(async (text: string, options: Options) => {
    requireValidEmbedder(command, options);
    if (text.trim() === "") throw new CommandError("the text is empty");
    const vector = await createEmbedder(io, options).embedQuery(text);
    const hashed = usesHashing(options) ? { threshold: EMBED_HASHING_THRESHOLD } : {};
    print(io, jsonLine(searchBody(vector, { ...hashed, ...options })));
  });
}
