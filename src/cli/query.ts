import { Command, Option } from "commander";
import { RETRIEVAL_MODES, type RetrievalMode } from "../engine/requests/request.ts";
import { encodeEmbedding } from "../import/records/embedding.ts";
import { boundedFetch } from "../shared/bounded-fetch.ts";
import {
  LOOKUP_LIMIT_MAX,
  SEARCH_LIMIT_MAX,
  SEARCH_THRESHOLD_DEFAULT,
  WEAK_SCORE,
} from "../shared/limits.ts";
import { CommandError } from "./command-error.ts";
import {
  createEmbedder,
  type EmbedderOptions,
  embedderOptions,
  requireValidEmbedder,
  usesHashing,
} from "./embedder-options.ts";
import { configOf, type Io } from "./io.ts";
import { count, filter, url } from "./options.ts";
import { type Column, jsonOption, notice } from "./output.ts";
import { keptKey, makeKey } from "./query-key.ts";
import { excerpt, type Found, printFound } from "./query-output.ts";
import { serviceAddress } from "./service-address.ts";

/** Far more than the largest page of results. */
const ANSWER_MAX_BYTES = 67_108_864;

interface QueryOptions {
  readonly project: string;
  readonly url?: string;
  readonly key?: string;
  readonly limit: number;
  readonly filter?: object;
  readonly json?: boolean;
}

interface SearchOptions extends QueryOptions, EmbedderOptions {
  readonly environment?: string;
  readonly release?: string;
  readonly mode?: RetrievalMode;
  readonly threshold?: number;
}

type LookupOptions = QueryOptions & Pick<SearchOptions, "environment" | "release">;

interface Snippet {
  readonly text: string;
  readonly matches: ReadonlyArray<readonly number[]>;
}

interface Hit {
  readonly score: number;
  /** Null for a file without chunks. */
  readonly chunk: { readonly file_path: string; readonly index: number } | null;
  readonly file?: { readonly path: string };
  readonly title?: string;
  readonly highlight?: Snippet;
}

interface Item {
  readonly path: string;
  readonly title?: string;
  readonly score?: number;
  readonly snippet?: Snippet;
}

const placeOf = ({ chunk, file }: Hit) =>
  chunk === null ? (file?.path ?? "") : `${chunk.file_path}#${chunk.index}`;

const gradeOf = ({ score }: Hit) => `${score.toFixed(4)}${score < WEAK_SCORE ? " weak" : ""}`;

const HITS: readonly Column<Hit>[] = [
  ["score", gradeOf],
  ["chunk", placeOf],
  ["content", ({ highlight }) => excerpt(highlight?.text ?? "")],
];

const ITEMS: readonly Column<Item>[] = [
  ["score", ({ score }) => score?.toFixed(2) ?? "-"],
  ["path", ({ path }) => path],
  ["title", ({ title }) => title ?? ""],
  ["passage", ({ snippet }) => snippet?.text ?? ""],
];

const readItem = ({ path, title, score, snippet }: Item): Found => ({
  ...{ score: score?.toFixed(2) ?? "-", place: path, title },
  ...{ passage: snippet?.text ?? "", matches: snippet?.matches ?? [] },
});

const readHit = (hit: Hit): Found => ({
  ...{ score: gradeOf(hit), place: placeOf(hit), title: hit.title },
  ...{ passage: hit.highlight?.text ?? "", matches: hit.highlight?.matches ?? [] },
});

const SHARED_HELP = `
The service must be running. Its address is --url, else that of the service that uses the same DATA_DIR,
else BASE_URL, else HOST and PORT. Without --key and TESSERA_API_KEY, a key that only searches the
project is made in the database and kept in DATA_DIR for 30 days.
`;

/** Adds the options of every query. */
function queryCommand(name: string, defaultLimit: number, limitMax: number): Command {
  return new Command(name)
    .argument("<text>", "what to look for")
    .requiredOption("--project <slug>", "the project")
    .option("--limit <n>", `maximum number of results, 1 to ${limitMax}`, count, defaultLimit)
    .option("--filter <json>", "only what matches, see docs/filters.md", filter)
    .option("--url <url>", "address of the service", url)
    .option("--key <key>", "API key; default: TESSERA_API_KEY")
    .addOption(jsonOption());
}

export function searchCommand(io: Io): Command {
  const command = queryCommand("search", 5, SEARCH_LIMIT_MAX)
    .description("Search for the best chunks by text: by meaning and by words.")
    .option("--environment <name>", "the environment to search")
    .option("--release <name>", "search this release instead")
    .addOption(
      new Option("--mode <mode>", "by meaning, by words, or both").choices(RETRIEVAL_MODES),
    )
    .option("--threshold <score>", "minimum similarity by meaning, 0 to 1", Number)
    .addHelpText(
      "after",
      `${SHARED_HELP}
The project's embedder embeds the text; a project without one is searched by words. Options of embedders are for
projects without one, whose chunks they have embedded.

Examples:
  ./tessera search "how do snapshots work" --project demo
  ./tessera search "rollback" --project handbook --release v1.4.0 --json`,
    );
  for (const option of embedderOptions()) command.addOption(option);
  return command.action(async (text: string, options: SearchOptions) => {
    requireValidEmbedder(command, options);
    requireLimit(command, options, SEARCH_LIMIT_MAX);
    await search(io, text, options);
  });
}

/** The vector of the text, if an embedder is named for it. */
async function vectorOf(io: Io, text: string, options: SearchOptions): Promise<object> {
  if (usesHashing(options) && options.embedDimension === undefined) return {};
  const { dimension, base64 } = encodeEmbedding(await createEmbedder(io, options).embedQuery(text));
  return { vector: base64, dimension };
}

async function search(io: Io, text: string, options: SearchOptions): Promise<void> {
  const { limit, threshold, mode, filter, json } = options;
  const vector = await vectorOf(io, text, options);
  const target = targetOf(options);
  const body = { query: text, filter, ...vector, ...(mode && { mode }), ...(target && { target }) };
  await withService(io, options, async (ask) => {
    const hits = await ask<Hit>("retrieve", {
      ...{ ...body, limit },
      ...(threshold === undefined ? {} : { threshold }),
    });
    printFound(io, hits, HITS, { read: readHit, json });
    if (hits.length > 0 || mode !== "semantic") return;
    const [best] = await ask<Hit>("retrieve", { ...body, limit: 1, threshold: 0 });
    if (best !== undefined) {
      notice(io, belowThreshold(best, threshold ?? SEARCH_THRESHOLD_DEFAULT));
    }
  });
}

function belowThreshold({ score }: Hit, threshold: number): string {
  const lower = Math.max(0, Math.floor(score * 20) / 20);
  return `the best score is ${score.toFixed(4)}, below the threshold of ${threshold}: try --threshold ${lower}`;
}

/** The environment or the release that is named. */
function targetOf({ environment, release }: Partial<SearchOptions>): object | undefined {
  if (release !== undefined) return { release };
  return environment === undefined ? undefined : { environment };
}

export function lookupCommand(io: Io): Command {
  const command = queryCommand("lookup", 5, LOOKUP_LIMIT_MAX)
    .description("Look up the Markdown files of a project by text.")
    .option("--environment <name>", "the environment to look in")
    .option("--release <name>", "look in this release instead")
    .addHelpText(
      "after",
      `${SHARED_HELP}
All words of the text count, and none excludes a file: quotation marks, minus and AND have no meaning.

Examples:
  ./tessera lookup "rollback a relese" --project demo
  ./tessera lookup "release" --project demo --filter '{"path": {"$prefix": "concepts/"}}'`,
    );
  return command.action(async (query: string, options: LookupOptions) => {
    requireLimit(command, options, LOOKUP_LIMIT_MAX);
    const { limit, filter, json } = options;
    const target = targetOf(options);
    const body = { query, limit, filter, ...(target ? { lookup_target: target } : {}) };
    const items = await withService(io, options, (ask) => ask<Item>("knowledge/lookup", body));
    printFound(io, items, ITEMS, { read: readItem, json });
  });
}

function requireLimit(command: Command, { limit }: QueryOptions, max: number): void {
  if (limit > max) command.error(`error: --limit must be between 1 and ${max}`);
}

/** Sends a query to an operation of the project and returns the results. */
type Ask = <T>(path: string, body: object) => Promise<T[]>;

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
  { project, url: given, key }: QueryOptions,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  const config = configOf(io);
  const address = given?.replace(/\/+$/, "") ?? serviceAddress(config);
  const askWith =
    (credential: string): Ask =>
    (path, body) =>
      send(io, `${address}/projects/${encodeURIComponent(project)}/${path}`, body, credential);
  const ownKey = key ?? config.apiKey;
  if (ownKey !== undefined) return await work(askWith(ownKey));
  const place = { address, project };
  const kept = keptKey(io, place);
  if (kept !== undefined) {
    try {
      return await work(askWith(kept));
    } catch (error) {
      if (!(error instanceof Refusal && KEY_REFUSED.has(error.slug))) throw error;
    }
  }
  return await work(askWith(await makeKey(io, place, kept)));
}

/** Answers to a key that was revoked, or belongs to an earlier project or a former member. */
const KEY_REFUSED: ReadonlySet<string> = new Set(["unauthorized", "project-not-found"]);

/** An answer of the service without results. */
class Refusal extends CommandError {
  constructor(
    message: string,
    readonly slug: string,
  ) {
    super(message);
  }
}

interface Answer<T> {
  readonly data?: T[];
  readonly detail?: string;
  readonly slug?: string;
}

async function send<T>(io: Io, address: string, body: object, key: string): Promise<T[]> {
  const request = {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify(body),
  };
  const response = await boundedFetch(address, request, ANSWER_MAX_BYTES).catch((error: Error) => {
    throw new CommandError(
      `${new URL(address).origin} does not answer (${error.message}): start the service, or name its address with --url`,
    );
  });
  const answer = (await response.json().catch(() => ({}))) as Answer<T>;
  if (response.ok && Array.isArray(answer.data)) {
    warnOfBehind(io, response);
    return answer.data;
  }
  const { detail = `the service answered ${response.status} and no results`, slug = "" } = answer;
  throw new Refusal(detail, slug);
}
