import { Command } from "commander";
import { issueApiKey } from "../api/api-keys/issue.ts";
import { deleteKey } from "../api/api-keys/manage.ts";
import { listMembers } from "../api/projects/manage.ts";
import type { Sql } from "../db/client.ts";
import { searchBody } from "../import/embedders/search-body.ts";
import {
  EMBED_HASHING_THRESHOLD,
  LOOKUP_LIMIT_MAX,
  SEARCH_LIMIT_MAX,
  SEARCH_THRESHOLD_DEFAULT,
} from "../shared/limits.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./database.ts";
import {
  createEmbedder,
  type EmbedderOptions,
  embedderOptions,
  requireValidEmbedder,
  usesHashing,
} from "./embedder-options.ts";
import { findProject } from "./find-project.ts";
import { configOf, type Io } from "./io.ts";
import { count, filter, url } from "./options.ts";
import { warnOfOtherEmbedder } from "./other-embedders.ts";
import { type Column, jsonOption, notice } from "./output.ts";
import { excerpt, type Found, occurrences, printFound } from "./query-output.ts";
import { serviceAddress } from "./service-address.ts";

/** A command that queries the service without a key makes one that is valid for this long. */
const QUERY_KEY_SECONDS = 60;

interface QueryOptions {
  readonly project: string;
  readonly url?: string;
  readonly key?: string;
  readonly limit: number;
  readonly filter?: object;
  readonly json?: boolean;
}

interface SearchOptions extends QueryOptions, EmbedderOptions {
  readonly environment: string;
  readonly release?: string;
  readonly threshold?: number;
}

type LookupOptions = QueryOptions & Partial<Pick<SearchOptions, "environment" | "release">>;

interface Hit {
  readonly score: number;
  readonly chunk: { readonly file_path: string; readonly index: number; readonly content: string };
}

interface Item {
  readonly path: string;
  readonly title?: string;
  readonly score?: number;
  readonly snippet?: { readonly text: string; readonly matches: ReadonlyArray<readonly number[]> };
}

const placeOf = ({ chunk }: Hit) => `${chunk.file_path}#${chunk.index}`;

const HITS: readonly Column<Hit>[] = [
  ["score", ({ score }) => score.toFixed(4)],
  ["chunk", placeOf],
  ["content", ({ chunk }) => excerpt(chunk.content)],
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

function readHit(text: string): (hit: Hit) => Found {
  return (hit) => {
    const passage = excerpt(hit.chunk.content);
    const matches = occurrences(text, passage);
    return { score: hit.score.toFixed(4), place: placeOf(hit), passage, matches };
  };
}

const SHARED_HELP = `
The service must be running. Its address is --url, else TESSERA_URL, else that of the service that uses
the same DATA_DIR, else BASE_URL, else HOST and PORT. Without --key and TESSERA_API_KEY, a key for this
one request is created in the database and deleted again.
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
    .description("Embed a text and search for it by vector.")
    .option("--environment <name>", "the environment to search", "production")
    .option("--release <name>", "search this release instead")
    .option("--threshold <score>", "minimum score, 0 to 1", Number)
    .addHelpText(
      "after",
      `${SHARED_HELP}
Use the embedder that the files were imported with.

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

async function search(io: Io, text: string, options: SearchOptions): Promise<void> {
  const { environment, release, project, filter, json } = options;
  const embedder = createEmbedder(io, options);
  const vector = await embedder.embedQuery(text);
  const usual = usesHashing(options) ? EMBED_HASHING_THRESHOLD : SEARCH_THRESHOLD_DEFAULT;
  const { threshold = usual, limit } = options;
  const scope =
    release === undefined
      ? `environments/${encodeURIComponent(environment)}`
      : `releases/${encodeURIComponent(release)}`;
  await withService(io, options, async (ask, sql) => {
    const searchFor = (wanted: { limit: number; threshold: number }) =>
      ask<Hit>(`${scope}/search`, { ...searchBody(vector, wanted), filter });
    const hits = await searchFor({ limit, threshold });
    printFound(io, hits, HITS, { read: readHit(text), json });
    if (sql !== undefined) {
      await warnOfOtherEmbedder(io, sql, { project, environment, release }, embedder);
    }
    if (hits.length > 0 || threshold === 0) return;
    const [best] = await searchFor({ limit: 1, threshold: 0 });
    notice(io, best === undefined ? noVectors(vector.length) : belowThreshold(best, threshold));
  });
}

function belowThreshold({ score }: Hit, threshold: number): string {
  const lower = Math.max(0, Math.floor(score * 20) / 20);
  return `the best score is ${score.toFixed(4)}, below the threshold of ${threshold}: try --threshold ${lower}`;
}

const noVectors = (dimension: number) =>
  `nothing to be searched has ${dimension} dimensions, or any similarity: use the embedder of the import`;

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
    const { environment, release, limit, filter, json } = options;
    const target = release === undefined ? environment && { environment } : { release };
    const body = { query, limit, filter, ...(target ? { lookup_target: target } : {}) };
    const items = await withService(io, options, (ask) => ask<Item>("knowledge/lookup", body));
    printFound(io, items, ITEMS, { read: readItem, json });
  });
}

function requireLimit(command: Command, { limit }: QueryOptions, max: number): void {
  if (limit > max) command.error(`error: --limit must be between 1 and ${max}`);
}

/** Sends a query to an operation of the project and returns what it found. */
type Ask = <T>(path: string, body: object) => Promise<T[]>;

/**
 * Lets `work` query the running service. Without a key of one's own it gets one, and the database that
 * holds it.
 */
async function withService<T>(
  io: Io,
  { project, url: given, key }: QueryOptions,
  work: (ask: Ask, sql?: Sql) => Promise<T>,
): Promise<T> {
  const config = configOf(io);
  const base = given?.replace(/\/+$/, "") ?? serviceAddress(config);
  const askWith =
    (credential: string): Ask =>
    (path, body) =>
      send(`${base}/projects/${encodeURIComponent(project)}/${path}`, body, credential);
  const ownKey = key ?? config.apiKey;
  if (ownKey !== undefined) return await work(askWith(ownKey));
  return await withDatabase(io, (sql) => withKey(sql, project, (made) => work(askWith(made), sql)));
}

async function send<T>(address: string, body: object, key: string): Promise<T[]> {
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify(body),
  }).catch((error: Error) => {
    throw new CommandError(
      `${new URL(address).origin} does not answer (${error.message}): start the service, or name its address with --url or TESSERA_URL`,
    );
  });
  const answer = (await response.json().catch(() => ({}))) as { data: T[]; detail?: string };
  if (response.ok) return answer.data;
  throw new CommandError(answer.detail ?? `the service answered ${response.status}`);
}

/** Creates a key of an owner of the project for as long as the work takes. */
async function withKey<T>(
  sql: Sql,
  reference: string,
  work: (key: string) => Promise<T>,
): Promise<T> {
  const project = await findProject(sql, reference);
  const members = await listMembers(sql, project.id);
  const email = members.find((member) => member.email !== null)?.email;
  if (!email) throw new CommandError(`${project.slug} has no member with an address: use --key`);
  const { key, id } = await issueApiKey(sql, {
    email,
    name: "tessera search",
    projectId: project.id,
    scopes: ["search.query", "knowledge.lookup"],
    expiresAt: new Date(Date.now() + QUERY_KEY_SECONDS * 1_000),
  });
  try {
    return await work(key);
  } finally {
    await deleteKey(sql, id);
  }
}
