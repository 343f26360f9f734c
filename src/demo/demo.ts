import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { issueApiKey } from "../api-keys/issue.ts";
import type { Config } from "../config/schema.ts";
import type { Sql } from "../db/client.ts";
import { hashingEmbedder } from "../import/embedders/embedder.ts";
import { searchBody } from "../import/embedders/search-body.ts";
import { findMarkdown } from "../import/markdown/folder.ts";
import type { Log } from "../observability/log.ts";
import { DEMO_KEY_DAYS, EMBED_HASHING_THRESHOLD } from "../shared/limits.ts";

/** What a new user needs for a first request to the demo project. */
export interface Demo {
  /** An API key for the demo project alone. */
  readonly key: string;
  readonly expiresAt: Date;
  /** Path of a file with the body of a search. */
  readonly queryFile: string;
}

const MS_PER_DAY = 86_400_000;
const PROJECT = "demo";
const USER = "demo@localhost";
const RELEASE = "v1.0.0";
const QUERY = "index snapshots";
const QUERY_LIMIT = 3;
const QUERY_FILE = "demo-query.json";
const DOCUMENTS = join(import.meta.dir, "..", "..", "fixtures", "docs");

/**
 * Creates the demo project if the configuration asks for it: a user, a project with two environments
 * and a release, and an API key. Returns undefined if no demo is needed. The project is created in one
 * transaction.
 */
export async function prepareDemo(config: Config, sql: Sql, log: Log): Promise<Demo | undefined> {
  if (!(await isNeeded(config, sql))) return undefined;
  // Loaded here, because most starts create no demo.
  const { importMarkdown } = await import("../import/import-markdown.ts");
  const rejected: string[] = [];
  const summary = await importMarkdown(
    sql,
    {
      folder: DOCUMENTS,
      paths: findMarkdown(DOCUMENTS).paths,
      embedder: hashingEmbedder(),
      project: PROJECT,
      environments: ["production", "staging"],
      owner: USER,
      strict: true,
      furtherRecords: [
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
      onFile: () => {},
      onReport: (path, reason) => rejected.push(`${path}: ${reason}`),
    },
  );
  if (summary.rejected > 0) {
    // Most likely another process with the same database created the project first.
    log.warn({ rejected }, "the demo project was not created");
    return undefined;
  }
  return { ...(await issueKey(sql)), queryFile: await writeQuery(config.dataDir) };
}

/** The key is printed and stays in logs, so it reaches the demo project only, and not for long. */
async function issueKey(sql: Sql): Promise<Pick<Demo, "key" | "expiresAt">> {
  const [project] = await sql<{ id: string }[]>`SELECT id FROM projects WHERE slug = ${PROJECT}`;
  if (project === undefined) throw new Error("the demo project was not stored");
  const expiresAt = new Date(Date.now() + DEMO_KEY_DAYS * MS_PER_DAY);
  const request = { email: USER, name: "demo", projectId: project.id, expiresAt };
  return { key: (await issueApiKey(sql, request)).key, expiresAt };
}

async function isNeeded(config: Config, sql: Sql): Promise<boolean> {
  if (config.demo === "off") return false;
  if (config.demo === "auto" && config.databaseUrl !== undefined) return false;
  const [row] = await sql<{ empty: boolean; exists: boolean }[]>`
    SELECT NOT EXISTS (SELECT 1 FROM projects) AND NOT EXISTS (SELECT 1 FROM users) AS empty,
      EXISTS (SELECT 1 FROM projects WHERE slug = ${PROJECT}) AS exists`;
  return config.demo === "on" ? row?.exists === false : row?.empty === true;
}

async function writeQuery(dataDir: string): Promise<string> {
  const vector = await hashingEmbedder().embedQuery(QUERY);
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, QUERY_FILE);
  const body = searchBody(vector, { limit: QUERY_LIMIT, threshold: EMBED_HASHING_THRESHOLD });
  writeFileSync(file, `${JSON.stringify(body)}\n`);
  return file;
}

/** The text that the first start prints. `baseUrl` has no trailing slash. */
export function demoBanner({ key, expiresAt, queryFile }: Demo, baseUrl: string): string {
  const nearby = relative(process.cwd(), queryFile);
  const path = nearby.startsWith("..") ? queryFile : nearby;
  return `
A demo project was created, with the environments production and staging and the release ${RELEASE}.

  API:            ${baseUrl}
  documentation:  ${baseUrl}/docs
  API key:        ${key}   (shown only once)
                  for this project only, valid until ${expiresAt.toISOString().slice(0, 10)}

Search it for "${QUERY}":

  curl -s ${baseUrl}/projects/${PROJECT}/environments/production/search -H "X-API-Key: ${key}" -H "Content-Type: application/json" --data-binary ${shellQuoted(`@${path}`)}

To search for something else: ./tessera search "your words" --project ${PROJECT}
Set DEMO=off to start without a demo project.

`;
}

function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
