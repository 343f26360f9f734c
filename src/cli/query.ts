import { type Command, Option } from "commander";
import { type Schemas, Tessera, TesseraError } from "../../client/src/index.ts";
import {
  LOOKUP_LIMIT_MAX,
  SEARCH_LIMIT_MAX,
  SEARCH_THRESHOLD_DEFAULT,
  WEAK_SCORE,
} from "../domain/limits.ts";
import { RETRIEVAL_MODES, type RetrievalMode } from "../engine/requests/request.ts";
import { boundedFetch } from "../ops/bounded-fetch.ts";
import { addOptions, newCommand } from "./command.ts";
import { CommandError } from "./command-error.ts";
import {
  createEmbedder,
  type EmbedderOptions,
  embedderOptions,
  requireValidEmbedder,
  usesHashing,
} from "./embedder-options.ts";
import { configOf, type Io } from "./io.ts";
import { between, filter, score } from "./options.ts";
import { type Column, notice } from "./output.ts";
import { keptKey, makeKey } from "./query-key.ts";
import { excerpt, type Found, printFound } from "./query-output.ts";
import { addressOf, explained, type ServiceFlags } from "./service.ts";

/** Far more than the largest page of results. */
const ANSWER_MAX_BYTES = 67_108_864;
const LIMIT_DEFAULT = 5;

interface QueryOptions extends ServiceFlags {
  readonly project: string;
  readonly environment?: string;
  readonly release?: string;
  readonly limit: number;
  readonly filter?: Schemas["Filter"];
  readonly json?: boolean;
}

interface SearchOptions extends QueryOptions, EmbedderOptions {
  readonly mode?: RetrievalMode;
  readonly threshold?: number;
}

type Hit = Schemas["RetrieveHit"];
type Item = Schemas["LookupItem"];

const readHit = ({ score, chunk, file, title, highlight }: Hit): Found => ({
  score: `${score.toFixed(4)}${score < WEAK_SCORE ? " weak" : ""}`,
  place: chunk === null ? (file?.path ?? "") : `${chunk.file_path}#${chunk.index}`,
  title,
  passage: highlight?.text ?? "",
  matches: highlight?.matches ?? [],
});

const readItem = ({ score, path, title, snippet }: Item): Found => ({
  score: score?.toFixed(2) ?? "-",
  place: path,
  title,
  passage: snippet?.text ?? "",
  matches: snippet?.matches ?? [],
});

const HITS: readonly Column<Found>[] = [
  ["score", ({ score }) => score],
  ["chunk", ({ place }) => place],
  ["content", ({ passage }) => excerpt(passage)],
];

const ITEMS: readonly Column<Found>[] = [
  ["score", ({ score }) => score],
  ["path", ({ place }) => place],
  ["title", ({ title }) => title ?? ""],
  ["passage", ({ passage }) => passage],
];

/** Adds the arguments and options of every query. */
function queryCommand(name: string, verb: string, limitMax: number): Command {
  return newCommand(name, "project", "json", "url", "key")
    .argument("<text>", "the text to search for")
    .option("--environment <name>", `the environment to ${verb}`)
    .option("--release <name>", `${verb} this release instead`)
    .option(
      "--limit <n>",
      `maximum number of results, 1 to ${limitMax}`,
      between(1, limitMax),
      LIMIT_DEFAULT,
    )
    .option("--filter <json>", "a filter of the results, see docs/filters.md", filter);
}

export function searchCommand(io: Io): Command {
  const command = queryCommand("search", "search", SEARCH_LIMIT_MAX)
    .addOption(
      new Option("--mode <mode>", "by meaning, by words, or both").choices(RETRIEVAL_MODES),
    )
    .option("--threshold <score>", "minimum similarity by meaning, 0 to 1", score);
  return addOptions(command, embedderOptions()).action(
    async (query: string, options: SearchOptions) => {
      requireValidEmbedder(command, options);
      await search(io, query, options);
    },
  );
}

async function search(io: Io, query: string, options: SearchOptions): Promise<void> {
  const { project, limit, threshold, mode, filter, json } = options;
  const isEmbedded = !usesHashing(options) || options.embedDimension !== undefined;
  const question = {
    query,
    ...(filter && { filter }),
    ...(mode && { mode }),
    ...(isEmbedded && { vector: await createEmbedder(io, options).embedQuery(query) }),
    ...targetOf("target", options),
  };
  await withService(io, options, async (client) => {
    const asked = { ...question, limit, ...(threshold !== undefined && { threshold }) };
    const hits = rowsOf(await client.retrieve(project, asked));
    printFound(io, hits, { columns: HITS, read: readHit, json });
    if (hits.length > 0 || mode !== "semantic") return;
    const [best] = rowsOf(await client.retrieve(project, { ...question, limit: 1, threshold: 0 }));
    if (best !== undefined) {
      notice(io, belowThreshold(best, threshold ?? SEARCH_THRESHOLD_DEFAULT));
    }
  });
}

function belowThreshold({ score }: Hit, threshold: number): string {
  const lower = Math.max(0, Math.floor(score * 20) / 20);
  return `the best score is ${score.toFixed(4)}, below the threshold of ${threshold}: try --threshold ${lower}`;
}

export function lookupCommand(io: Io): Command {
  return queryCommand("lookup", "look in", LOOKUP_LIMIT_MAX).action(
    async (query: string, options: QueryOptions) => {
      const { project, limit, filter, json } = options;
      const question = {
        query,
        limit,
        ...(filter && { filter }),
        ...targetOf("lookup_target", options),
      };
      const items = await withService(io, options, async (client) =>
        rowsOf(await client.lookUpKnowledge(project, question)),
      );
      printFound(io, items, { columns: ITEMS, read: readItem, json });
    },
  );
}

/** The environment or the release that is named, as the field of a question. */
function targetOf<Field extends string>(
  field: Field,
  { environment, release }: QueryOptions,
): { [name in Field]?: Schemas["LookupTarget"] } {
  const named = release !== undefined ? { release } : environment && { environment };
  return (named ? { [field]: named } : {}) as { [name in Field]?: Schemas["LookupTarget"] };
}

/** The results of an answer, which need not be of this service. */
function rowsOf<Row>(answer: { readonly data: Row[] } | null | undefined): Row[] {
  if (Array.isArray(answer?.data)) return answer.data;
  throw new CommandError("the service answered without results");
}

/** Warns that an answer without results may lack a change. */
function warnOfBehind(io: Io, { headers }: Response): void {
  const seconds = headers.get("x-index-behind");
  if (seconds === null) return;
  notice(io, `the index does not have a change of ${seconds} s ago yet: ask again in a moment`);
}

/**
 * Lets `work` query the running service: with the caller's key, or else with a key that commands keep. A key is made if
 * the service accepts no kept one.
 */
async function withService<T>(
  io: Io,
  options: QueryOptions,
  work: (client: Tessera) => Promise<T>,
): Promise<T> {
  const address = addressOf(configOf(io), options);
  const ask = (credential: string) => {
    const fetch = async (url: string, init: RequestInit) => {
      const answer = await boundedFetch(url, init, ANSWER_MAX_BYTES);
      if (answer.ok) warnOfBehind(io, answer);
      return answer;
    };
    const client = new Tessera({ baseUrl: address, credential, retries: 0, fetch });
    return explained(address, () => work(client));
  };
  const ownKey = options.key ?? configOf(io).apiKey;
  if (ownKey !== undefined) return await ask(ownKey);
  const place = { address, project: options.project };
  const kept = keptKey(io, place);
  if (kept !== undefined) {
    try {
      return await ask(kept);
    } catch (error) {
      if (!isKeyRefused(error)) throw error;
    }
  }
  return await ask(await makeKey(io, place, kept));
}

/** Whether a service refuses a key: it was revoked, or belongs to an earlier project or a former member. */
function isKeyRefused(error: unknown): boolean {
  const { cause } = error as Error;
  if (!(cause instanceof TesseraError)) return false;
  return cause.status === 401 || cause.slug === "project-not-found";
}
