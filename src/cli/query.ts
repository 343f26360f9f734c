import { Command } from "commander";
import { issueApiKey } from "../api-keys/issue.ts";
import type { Sql } from "../db/client.ts";
import { searchBody } from "../import/embedders/search-body.ts";
import { EMBED_HASHING_THRESHOLD, QUERY_KEY_SECONDS, SNIPPET_MAX_CHARS } from "../shared/limits.ts";
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
import { count, url } from "./options.ts";
import { type Column, jsonOption, printList, withoutControls } from "./output.ts";
import { serviceAddress } from "./service-address.ts";

interface QueryOptions {
  readonly project: string;
  readonly url?: string;
  readonly key?: string;
  readonly limit: number;
  readonly json?: boolean;
}

interface SearchOptions extends QueryOptions, EmbedderOptions {
  readonly environment: string;
  readonly release?: string;
  readonly threshold?: number;
}

interface Hit {
  readonly score: number;
  readonly chunk: { readonly file_path: string; readonly index: number; readonly content: string };
}

interface Item {
  readonly path: string;
  readonly title?: string;
  readonly score?: number;
  readonly snippet?: { readonly text: string };
}

const HITS: readonly Column<Hit>[] = [
  ["score", ({ score }) => score.toFixed(4)],
  ["chunk", ({ chunk }) => `${chunk.file_path}#${chunk.index}`],
  ["content", ({ chunk }) => excerpt(chunk.content)],
];

const ITEMS: readonly Column<Item>[] = [
  ["score", ({ score }) => score?.toFixed(2) ?? "-"],
  ["path", ({ path }) => path],
  ["title", ({ title }) => title ?? ""],
  ["passage", ({ snippet }) => excerpt(snippet?.text ?? "")],
];

const SHARED_HELP = `
The service must be running. Without --key and TESSERA_API_KEY, a key for this one request is created
in the database and deleted again.
`;

/** Adds the options of every query. */
function queryCommand(name: string, defaultLimit: number): Command {
  return new Command(name)
    .argument("<text>", "what to look for")
    .requiredOption("--project <slug>", "the project")
    .option("--limit <n>", "maximum number of results", count, defaultLimit)
    .option("--url <url>", "address of the service; default: BASE_URL, else HOST and PORT", url)
    .option("--key <key>", "API key; default: TESSERA_API_KEY")
    .addOption(jsonOption());
}

export function searchCommand(io: Io): Command {
  const command = queryCommand("search", 5)
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
    const vector = await createEmbedder(io, options).embedQuery(text);
    const hashed = usesHashing(options) ? { threshold: EMBED_HASHING_THRESHOLD } : {};
    const scope =
      options.release === undefined
        ? `environments/${encodeURIComponent(options.environment)}`
        : `releases/${encodeURIComponent(options.release)}`;
    const body = searchBody(vector, { ...hashed, ...options });
    const { data } = await ask<Hit>(io, `${scope}/search`, body, options);
    printList(io, data, HITS, { json: options.json, empty: "nothing found" });
  });
}

export function lookupCommand(io: Io): Command {
  return queryCommand("lookup", 5)
    .description("Look up the Markdown files of a project by text.")
    .option("--environment <name>", "the environment to look in")
    .option("--release <name>", "look in this release instead")
    .addHelpText(
      "after",
      `${SHARED_HELP}
Examples:
  ./tessera lookup "rollback a relese" --project demo`,
    )
    .action(async (query: string, options: QueryOptions & Partial<SearchOptions>) => {
      const { environment, release, limit } = options;
      const target = release === undefined ? environment && { environment } : { release };
      const body = { query, limit, ...(target ? { lookup_target: target } : {}) };
      const { data } = await ask<Item>(io, "knowledge/lookup", body, options);
      printList(io, data, ITEMS, { json: options.json, empty: "nothing found" });
    });
}

function excerpt(content: string): string {
  const line = withoutControls(content.replace(/\s+/g, " ").trim());
  const width = Math.max(40, (process.stdout.columns ?? SNIPPET_MAX_CHARS) - 48);
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}

/** Sends a query to the running service. */
async function ask<T>(
  io: Io,
  path: string,
  body: object,
  { project, url: given, key }: QueryOptions,
): Promise<{ data: T[] }> {
  const config = configOf(io);
  const base = given?.replace(/\/+$/, "") ?? serviceAddress(config);
  const address = `${base}/projects/${encodeURIComponent(project)}/${path}`;
  const ownKey = key ?? config.apiKey;
  if (ownKey !== undefined) return await send(address, body, ownKey);
  return await withDatabase(io, (sql) =>
    withKey(sql, project, (made) => send(address, body, made)),
  );
}

async function send<T>(address: string, body: object, key: string): Promise<{ data: T[] }> {
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify(body),
  }).catch((error: Error) => {
    throw new CommandError(
      `${new URL(address).origin} does not answer (${error.message}): start the service, or name its address with --url`,
    );
  });
  const answer = (await response.json().catch(() => ({}))) as { data: T[]; detail?: string };
  if (response.ok) return answer;
  throw new CommandError(answer.detail ?? `the service answered ${response.status}`);
}

/** Creates a key of an owner of the project for as long as the work takes. */
async function withKey<T>(
  sql: Sql,
  reference: string,
  work: (key: string) => Promise<T>,
): Promise<T> {
  const project = await findProject(sql, reference);
  const [owner] = await sql<{ user_id: string; email: string | null }[]>`
    SELECT m.user_id, u.email FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE m.project_id = ${project.id} AND u.email IS NOT NULL
    ORDER BY m.role <> 'owner', m.created_at LIMIT 1`;
  if (!owner?.email) {
    throw new CommandError(`${project.slug} has no member with an address: use --key`);
  }
  const { key, id } = await issueApiKey(sql, {
    email: owner.email,
    name: "tessera search",
    projectId: project.id,
    scopes: ["search.query", "knowledge.lookup"],
    expiresAt: new Date(Date.now() + QUERY_KEY_SECONDS * 1_000),
  });
  try {
    return await work(key);
  } finally {
    await sql`DELETE FROM api_keys WHERE id = ${id}`;
  }
}
