import type { Queryable } from "../../db/client.ts";
import { omitNulls } from "../../domain/rows.ts";
import {
  type ProjectFilter,
  ReleaseNames,
  type Row,
  readApiKeys,
  readApprovals,
  readBranches,
  readChecks,
  readChunks,
  readConversations,
  readEnvironments,
  readInputRequests,
  readMessages,
  readProjects,
  readReleases,
  readUsers,
  readVersions,
  readWebhooks,
  type VersionRow,
} from "./queries.ts";

/** File versions that an export reads at a time, with their chunks. */
const EXPORT_VERSIONS_PER_READ = 16;

interface ExportOptions {
  /** The id of the only project to export; null for the whole database. */
  readonly project: ProjectFilter;
  /**
   * Export API keys and webhook definitions, with the hashes of their secrets. They work after an
   * import, so the export is as secret as a backup.
   */
  readonly credentials: boolean;
}

/**
 * The records of the database in an order in which they can be imported. `sql` is a transaction that
 * sees one state of the database throughout.
 */
export async function* exportRecords(
  sql: Queryable,
  { project, credentials }: ExportOptions,
): AsyncGenerator<object> {
  yield* records("user", await readUsers(sql, project));
  const projects = await readProjects(sql, project);
  yield* records("project", projects);
  if (credentials) yield* records("api_key", await readApiKeys(sql, project));
  for (const { id } of projects) yield* projectRecords(sql, id as string, credentials);
  if (project === null) yield* conversationRecords(sql, null);
}

async function* projectRecords(
  sql: Queryable,
  project: string,
  credentials: boolean,
): AsyncGenerator<object> {
  yield* records("environment", await readEnvironments(sql, project));
  yield* records("release", await readReleases(sql, project));
  yield* fileRecords(sql, project);
  yield* records("branch", await readBranches(sql, project));
  yield* records("branch_approval", await readApprovals(sql, project));
  yield* records("status_check", await readChecks(sql, project));
  yield* conversationRecords(sql, project);
  if (credentials) yield* records("webhook_definition", await readWebhooks(sql, project));
}

function* records(record: string, rows: readonly Row[]): Generator<object> {
  // The charge of a row follows from its fields.
  for (const { stored_bytes: _, ...row } of rows) yield { record, ...omitNulls(row) };
}

async function* fileRecords(sql: Queryable, project: string): AsyncGenerator<object> {
  const releases = await ReleaseNames.read(sql, project);
  let last: VersionRow | undefined;
  for (;;) {
    const versions = await readVersions(sql, project, last, EXPORT_VERSIONS_PER_READ);
    const ids = versions.map((version) => version.version_id);
    const chunks = Map.groupBy(await readChunks(sql, ids), (chunk) => chunk["file_version_id"]);
    for (const version of versions) {
      const of = (chunks.get(version.version_id) ?? []).map(chunkField);
      const names = releases.of(version.version_id).sort();
      yield { record: "file", ...omitNulls(version), releases: names, chunks: of };
    }
    if (versions.length < EXPORT_VERSIONS_PER_READ) return;
    last = versions.at(-1);
  }
}

function chunkField({ file_version_id: _, embedding, ...chunk }: Row): object {
  if (embedding === null) return chunk;
  return { ...chunk, embedding: Buffer.from(embedding as Uint8Array).toString("base64") };
}

async function* conversationRecords(
  sql: Queryable,
  project: string | null,
): AsyncGenerator<object> {
  for (const conversation of await readConversations(sql, project)) {
    yield* records("conversation", [conversation]);
    const id = conversation["id"] as string;
    yield* records("message", parentsFirst(await readMessages(sql, id)));
    yield* records("input_request", (await readInputRequests(sql, id)).map(withoutNullsInside));
  }
}

function withoutNullsInside({ latest_response: response, ...request }: Row): Row {
  return response === null ? request : { ...request, latest_response: omitNulls(response as Row) };
}

/** Messages in order of seq, except that a parent precedes its children. */
function parentsFirst(messages: readonly Row[]): Row[] {
  const byId = new Map(messages.map((message) => [message["id"], message]));
  const sorted = new Set<Row>();
  for (const message of messages) {
    const path: Row[] = [];
    let next: Row | undefined = message;
    while (next !== undefined && !sorted.has(next) && !path.includes(next)) {
      path.push(next);
      next = byId.get(next["parent_id"]);
    }
    for (const each of path.reverse()) sorted.add(each);
  }
  return [...sorted];
}
