import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { EMBEDDER_DIMENSION_MAX } from "../domain/limits.ts";
import { type Embedder, hashingEmbedder } from "../embed/embedders/embedder.ts";
import { EmbeddingError, type EmbeddingSetting } from "../embed/embedders/embedding-response.ts";
import { EMBED_PROBE } from "../embed/embedders/endpoint.ts";
import { remoteEmbedder } from "../embed/embedders/remote-embedder.ts";
import { CommandError } from "./command-error.ts";
import type { Io } from "./io.ts";
import { between, url } from "./options.ts";
import { notice, withoutControls } from "./output.ts";

/** Endpoints by name, with the model that they embed with unless another one is named. */
const PRESETS = {
  openai: {
    embedUrl: "https://api.openai.com/v1/embeddings",
    embedModel: "text-embedding-3-small",
  },
  ollama: { embedUrl: "http://127.0.0.1:11434/v1/embeddings", embedModel: "nomic-embed-text" },
} as const;

export interface EmbedderOptions {
  readonly embed?: keyof typeof PRESETS;
  readonly embedUrl?: string;
  readonly embedModel?: string;
  readonly embedDimension?: number;
  readonly embedKeyFile?: string;
}

/** The options that select an embedder. */
export function embedderOptions(): Option[] {
  return [
    new Option(
      "--embed <preset>",
      "embed with OpenAI (with its key in --embed-key-file) or a local Ollama",
    ).choices(Object.keys(PRESETS)),
    new Option("--embed-url <url>", "URL of an OpenAI-compatible embedding endpoint").argParser(
      url,
    ),
    new Option("--embed-model <name>", "embedding model; required with --embed-url"),
    new Option(
      "--embed-dimension <n>",
      `dimension of the embeddings, 1 to ${EMBEDDER_DIMENSION_MAX}`,
    ).argParser(between(1, EMBEDDER_DIMENSION_MAX)),
    new Option("--embed-key-file <file>", "file with the API key of the endpoint"),
  ];
}

/** Exits with a usage error if the options contradict each other. */
export function requireValidEmbedder(command: Command, options: EmbedderOptions): void {
  if (options.embedKeyFile !== undefined && usesHashing(options)) {
    command.error("error: --embed-key-file requires --embed or --embed-url");
  }
  if (options.embed !== undefined) {
    if (options.embedUrl !== undefined) {
      command.error("error: --embed cannot be combined with --embed-url");
    }
    return;
  }
  if ((options.embedUrl === undefined) !== (options.embedModel === undefined)) {
    command.error("error: --embed-url and --embed-model require each other");
  }
}

/** True if the options select feature hashing, whose scores are lower than a model's. */
export function usesHashing({ embed, embedUrl }: EmbedderOptions): boolean {
  return embed === undefined && embedUrl === undefined;
}

/**
 * The embedder that the options select for an import. An endpoint has to embed a text first, because an import
 * without it would leave a project without files. Throws an EmbeddingError.
 */
export async function createWorkingEmbedder(io: Io, options: EmbedderOptions): Promise<Embedder> {
  const embedder = createEmbedder(io, options);
  if (usesHashing(options)) return embedder;
  try {
    await embedder.embedQuery(EMBED_PROBE);
  } catch (error) {
    if (!(error instanceof EmbeddingError && options.embed === "ollama")) throw error;
    const { embedModel = PRESETS.ollama.embedModel } = options;
    throw new EmbeddingError(
      `${error.message}: start Ollama with \`ollama serve\`, and fetch the model with \`ollama pull ${embedModel}\``,
    );
  }
  return embedder;
}

/** The embedder that the options select: an endpoint, or feature hashing without --embed-url. */
export function createEmbedder(io: Io, options: EmbedderOptions): Embedder {
  const preset = options.embed === undefined ? {} : PRESETS[options.embed];
  if (options.embed === "openai" && options.embedKeyFile === undefined) {
    throw new CommandError(
      "--embed openai needs a file with an API key of OpenAI: --embed-key-file",
    );
  }
  const { embedUrl, embedModel, embedDimension, embedKeyFile } = { ...preset, ...options };
  if (embedUrl === undefined || embedModel === undefined) return hashingEmbedder(embedDimension);
  return remoteEmbedder({
    url: embedUrl,
    model: embedModel,
    dimension: embedDimension,
    apiKey: embedKeyFile === undefined ? undefined : readKey(embedKeyFile),
    onNote: (note) => notice(io, withoutControls(note)),
  });
}

function readKey(file: string): string {
  let key: string;
  try {
    key = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new CommandError(`--embed-key-file cannot be read: ${(error as Error).message}`);
  }
  if (key === "") throw new CommandError(`--embed-key-file is empty: ${file}`);
  return key;
}

const SETTING_NAMES: Readonly<Record<EmbeddingSetting, string>> = {
  url: "--embed-url",
  model: "--embed-model",
  dimension: "--embed-dimension",
  apiKey: "--embed-key-file",
};

/** The message of an embedding failure, with the options to check. */
export function explainEmbeddingError({ message, settings }: EmbeddingError): string {
  if (settings.length === 0) return message;
  return `${message}: check ${settings.map((setting) => SETTING_NAMES[setting]).join(" and ")}`;
}
