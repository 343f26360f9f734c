import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { searchBody } from "../cli/embed.ts";
import { createKey } from "../cli/keys.ts";
import type { Config } from "../config/schema.ts";
import type { Sql } from "../db/client.ts";
import { hashingEmbedder } from "../import/embedders/embedder.ts";
import { findMarkdown } from "../import/markdown/folder.ts";
import { importFolder } from "../import/markdown/import-markdown.ts";
import type { Log } from "../observability/log.ts";
import { EMBED_HASHING_THRESHOLD } from "../shared/limits.ts";

/** What a newcomer needs for the first request. */
export interface Demo {
  readonly key: string;
  /** The body of a search, ready for curl. */
  readonly queryFile: string;
}

const PROJECT = "demo";
const USER = "demo@localhost";
const RELEASE = "v1.0.0";
const QUERY = "index snapshots";
const QUERY_LIMIT = 3;
const QUERY_FILE = "demo-query.json";
const DOCUMENTS = join(import.meta.dir, "..", "..", "fixtures", "docs");

/**
 * Fills an empty database with a project to look at, when the configuration wants one: a user, the
 * project with two environments and a release, and a key. Returns undefined when there is nothing
 * to do. The project comes in one transaction, so a start that dies leaves no half of it.
 */
export async function prepareDemo(config: Config, sql: Sql, log: Log): Promise<Demo | undefined> {
  if (!(await isWanted(config, sql))) return undefined;
  const embedder = hashingEmbedder();
  const faults: string[] = [];
  const summary = await importFolder(
    sql,
    {
      folder: DOCUMENTS,
      paths: findMarkdown(DOCUMENTS).paths,
      embedder,
      project: PROJECT,
      environments: ["production", "staging"],
      owner: USER,
      strict: true,
      epilogue: [
        {
          record: "release",
          project: PROJECT,
          name: RELEASE,
          environment: "production",
          export_status: "success",
          build_status: "success",
          deploy_status: "success",
        },
      ],
    },
    {
      advance: () => {},
      kept: () => {},
      error: (where, reason) => faults.push(`${where}: ${reason}`),
    },
  );
  if (summary.refused > 0) {
    // Most likely another process that shares the database was quicker.
    log.warn({ faults }, "the demo project was not made");
    return undefined;
  }
  const key = await createKey(sql, { user: USER, name: "demo" }, () => {});
  return { key, queryFile: await writeQuery(config.dataDir) };
}

async function isWanted(config: Config, sql: Sql): Promise<boolean> {
  if (config.demo === "off") return false;
  if (config.demo === "auto" && config.databaseUrl !== undefined) return false;
  const [row] = await sql<{ empty: boolean; made: boolean }[]>`
    SELECT NOT EXISTS (SELECT 1 FROM projects) AND NOT EXISTS (SELECT 1 FROM users) AS empty,
      EXISTS (SELECT 1 FROM projects WHERE slug = ${PROJECT}) AS made`;
  return config.demo === "on" ? row?.made === false : row?.empty === true;
}

async function writeQuery(dataDir: string): Promise<string> {
  const vector = await hashingEmbedder().embedQuery(QUERY);
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, QUERY_FILE);
  writeFileSync(
    file,
    `${JSON.stringify(searchBody(vector, { limit: QUERY_LIMIT, threshold: EMBED_HASHING_THRESHOLD }))}\n`,
  );
  return file;
}

/** What the first start prints, once. `baseUrl` has no trailing slash. */
export function demoBanner({ key, queryFile }: Demo, baseUrl: string): string {
  const nearby = relative(process.cwd(), queryFile);
  const path = nearby.startsWith("..") ? queryFile : nearby;
  return `
A demo project is ready, with environments production and staging and release ${RELEASE}.

  API:            ${baseUrl}
  documentation:  ${baseUrl}/docs
  API key:        ${key}   (shown this once)

Search it for "${QUERY}":

  curl -s ${baseUrl}/projects/${PROJECT}/environments/production/search -H "X-API-Key: ${key}" -H "Content-Type: application/json" --data-binary ${shellQuoted(`@${path}`)}

Other words: bun run tessera embed "your words" prints such a body. DEMO=off starts with nothing.

`;
}

function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
