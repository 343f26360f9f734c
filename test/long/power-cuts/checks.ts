/** What must be true of everything that a power cut leaves. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { exportRecords } from "../../../src/content/export/export-records.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { openEmbeddedDatabase } from "../../../src/db/embedded.ts";
import { embed } from "../../../src/embed/embedders/feature-hashing.ts";
import { loadConfig } from "../../../src/ops/config/load.ts";
import { serve } from "../../../src/serve.ts";
import type { Json } from "../../../support/api/openapi.ts";
import { untilPasses } from "../../../support/until.ts";
import { describeStored, ownerOf, type StoredFile } from "./customers.ts";
import type { Remains } from "./disk/disk.ts";
import { DATA } from "./recording.ts";

/** Files that are not read as data, those of PostgreSQL, and those that have no name of their own yet. */
const UNREAD = [...[/\.lock$/, /\/lock$/, /\.new$/, /\/postgres\.log$/, /\/postgres\/cluster/]];
const DIMENSION = 768;
const LIMIT = 100;

/** The files of the service that a cut has torn: their names are those of whole files, and their contents are not. */
export function tornFiles(remains: Remains): string[] {
  return [...remains].flatMap(([path, file]) => {
    if (file === undefined || UNREAD.some((pattern) => pattern.test(path))) return [];
    return file.bytes.equals(file.whole) || !isNamed(path, remains) ? [] : [path];
  });
}

/** A file of a snapshot, which means nothing until its manifest names it. */
const PART = /^(data\/index\/slot-\d+\/[^/]+\/)([^/]+)$/;
const MANIFEST = "manifest.json";

function isNamed(path: string, remains: Remains): boolean {
  const [, folder, name] = PART.exec(path) ?? [];
  if (folder === undefined || name === undefined || name === MANIFEST) return true;
  return remains.get(folder + MANIFEST)?.bytes.includes(name) ?? false;
}

/** Whether a cut leaves a database. */
export const hasDatabase = (remains: Remains): boolean => remains.has(`${DATA}/postgres/cluster/`);

/** PostgreSQL refuses a cluster that others can read or that is not its account's. */
export function giveBack(folder: string, original: string): void {
  const cluster = join(folder, DATA, "postgres", "cluster");
  const from = join(original, DATA, "postgres", "cluster");
  const { success, stderr } = Bun.spawnSync(["chown", "-R", `--reference=${from}`, cluster]);
  if (!success) throw new Error(`${stderr}`);
  chmodSync(cluster, 0o700);
}

/** The projects of each customer in the database of a data folder, in the form of `allowed`. */
export async function storedIn(folder: string): Promise<Map<number, string>> {
  const server = await openEmbeddedDatabase({
    dataDir: join(folder, DATA),
    log: () => {},
    settings: { fsync: "off" },
  });
  const sql = openDatabase(server.url, { connections: 1, patience: "command" });
  try {
    const found = new Map<number, string>();
    for (const { id, slug } of await projectsIn(sql)) {
      if (ownerOf(slug) < 0) continue;
      const files: StoredFile[] = [];
      for await (const record of exportRecords(sql, { project: id, credentials: false })) {
        if ((record as { record: string }).record === "file") files.push(record as StoredFile);
      }
      const before = found.get(ownerOf(slug));
      const text = describeStored(slug, files);
      found.set(ownerOf(slug), before === undefined ? text : `${before}\n${text}`);
    }
    return found;
  } finally {
    await sql.end();
    await server.close();
  }
}

/** Before the first migration there are none. */
async function projectsIn(sql: ReturnType<typeof openDatabase>) {
  const [{ found } = { found: null }] = await sql<{ found: string | null }[]>`
    SELECT to_regclass('projects') AS found`;
  if (found === null) return [];
  return await sql<{ id: string; slug: string }[]>`SELECT id, slug FROM projects ORDER BY slug`;
}

/** What searches and lookups of a project should answer, and what they do. */
interface Answers {
  readonly expected: readonly string[];
  readonly searched: readonly string[];
  readonly lookedUp: readonly string[];
}

/**
 * Starts the service on a data folder and compares what it searches in each of these projects with its files.
 * Throws where they still differ after a time.
 */
export async function searchesAgree(folder: string, key: string, slugs: readonly string[]) {
  const service = await serve(
    loadConfig({
      PORT: "0",
      HOST: "127.0.0.1",
      DEMO: "off",
      LOG_LEVEL: "warn",
      SEARCH_WORKERS: "1",
      DATA_DIR: join(folder, DATA),
    }),
  );
  try {
    for (const slug of slugs) await agrees(`${service.url}/projects/${slug}`, key);
  } finally {
    await service.stop();
  }
}

async function agrees(project: string, key: string): Promise<void> {
  await untilPasses("searches and lookups find the files of the project", async () => {
    const { expected, searched, lookedUp } = await answersOf(project, key);
    const paths = [...new Set(expected.map((each) => each.split("\n")[0] as string))];
    if (`${searched}` === `${expected}` && `${lookedUp}` === `${paths}`) return;
    const differing = new Set(expected).symmetricDifference(new Set(searched));
    throw new Error(
      `${project} has ${paths}, lookups find ${lookedUp}, and searches differ in ${[...differing]}`,
    );
  });
}

async function answersOf(project: string, key: string): Promise<Answers> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const ask = async (path: string, body?: object): Promise<Json> => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return await (await fetch(project + path, { headers, ...sent })).json();
  };
  const { data: files = [] } = await ask("/files?environment=production");
  const expected: string[] = [];
  for (const { path } of files) {
    const { content, chunks } = await ask(`/files/${encodeURIComponent(path)}`);
    for (const { start_offset: from, end_offset: to } of chunks) {
      expected.push(`${path}\n${content.slice(from, to)}`);
    }
  }
  const vector = [...embed("This page is about notes.", DIMENSION)];
  const question = { vector, dimension: DIMENSION, threshold: 0, limit: LIMIT };
  const { data: hits = [] } = await ask("/environments/production/search", question);
  const { data: items = [] } = await ask("/knowledge/lookup", {});
  return {
    expected: expected.toSorted(),
    searched: hits.map(({ chunk }: Json) => `${chunk.file_path}\n${chunk.content}`).toSorted(),
    lookedUp: items.map(({ path }: Json) => path).toSorted(),
  };
}
