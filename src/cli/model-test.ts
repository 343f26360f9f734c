import { type Command, InvalidArgumentError } from "commander";
import {
  EmbedderAway,
  embedderName,
  ownDimension,
  TextsRefused,
} from "../embed/embedders/project-embedders.ts";
import { HASHING } from "../ops/config/embedders.ts";
import { newCommand } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { configuredEmbedder, configuredEmbedders } from "./configured-embedder.ts";
import type { Io } from "./io.ts";
import { notice, print } from "./output.ts";

/** Timeout of the first request, which may load the model. */
const LOAD_TIMEOUT_MS = 120_000;
/** Number of texts whose speed is measured, and of rounds. */
const TEST_TEXTS = 32;
const TEST_ROUNDS = 3;

function text(value: string): string {
  if (value.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return value;
}

export function modelTestCommand(io: Io): Command {
  return newCommand("models test")
    .argument("<text>", "a question", text)
    .argument("[other]", "the text of a file to compare it with; default: the same", text)
    .option("--embedder <name>", "an embedder of the configuration; default: the only one")
    .action(
      async (query: string, other: string | undefined, { embedder }: { embedder?: string }) => {
        await testModel(io, query, other ?? query, embedder ?? (await onlyEmbedder(io)));
      },
    );
}

async function onlyEmbedder(io: Io): Promise<string> {
  const names = [...(await configuredEmbedders(io)).keys()].filter((name) => name !== HASHING);
  const [only, ...others] = names;
  if (only === undefined) {
    const advice = "`./tessera models pull` fetches a model, and EMBEDDERS names one";
    throw new CommandError(`there is no embedder to test: ${advice}`);
  }
  if (others.length === 0) return only;
  throw new CommandError(`name one with --embedder: ${names.join(", ")}`);
}

/** Shows the message of an embedder that fails. */
function failed(error: unknown): never {
  const isKnown = error instanceof EmbedderAway || error instanceof TextsRefused;
  throw isKnown ? new CommandError(error.message) : error;
}

async function testModel(io: Io, query: string, other: string, name: string): Promise<void> {
  const embedder = await configuredEmbedder(io, name);
  const { fingerprint } = embedder;
  const start = performance.now();
  const vector = await embedder.embedQuery(query, LOAD_TIMEOUT_MS).catch(failed);
  notice(io, `the first text took ${Math.round(performance.now() - start)} ms`);
  const passages = Array.from({ length: TEST_TEXTS }, () => ({ headings: [], content: other }));
  const begun = performance.now();
  let similarity = 0;
  for (let round = 0; round < TEST_ROUNDS; round++) {
    const [outcome] = await embedder.embedPassages(passages, LOAD_TIMEOUT_MS).catch(failed);
    if (outcome === undefined || "reason" in outcome) {
      throw new CommandError(outcome?.reason ?? "the embedder returned nothing");
    }
    similarity = cosine(vector, outcome.vector);
  }
  const perSecond = (TEST_ROUNDS * TEST_TEXTS * 1_000) / (performance.now() - begun);
  print(io, `embedder    ${embedderName(fingerprint)} (${fingerprint})`);
  print(io, `dimension   ${ownDimension(fingerprint)}`);
  print(io, `speed       ${perSecond.toFixed(1)} texts per second`);
  print(io, `similarity  ${similarity.toFixed(4)}`);
}

function cosine(a: Float32Array, b: Float32Array): number {
  const product = a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
  return product / (Math.hypot(...a) * Math.hypot(...b));
}
