import pLimit from "p-limit";
import * as native from "../../../native/index.ts";
import type { Sql } from "../../db/client.ts";
import { INDEX_RETRY_BASE_MS } from "../../domain/limits.ts";
import type { Position } from "../../domain/position.ts";
import type { Log } from "../../ops/observability/log.ts";
import { LogLimiter } from "../../ops/observability/log-limiter.ts";
import { retryUntilSuccess } from "../../ops/retry.ts";
import { ChangeLog } from "../changes/change-log.ts";
import { FieldIndex } from "../fields/field-index.ts";
import { FieldWork } from "../fields/field-work.ts";
import type { IndexingContext } from "../projects/indexing-context.ts";
import { SnapshotStore } from "../snapshots/snapshot-store.ts";
import { TextIndex } from "../text/text-index.ts";
import { VectorIndex } from "../vector/vector-index.ts";
import { createVersionReader } from "../versions/reader.ts";
import type { VersionIndex } from "../versions/version-index.ts";
import type { IndexerEvent, IndexerOptions } from "./messages.ts";
import { NativeNames } from "./native-names.ts";

/** Projects that may read more than a slice at a time; small changes use the other connections. */
const INDEX_BULK_READERS = 2;

export type Post = (event: IndexerEvent) => void;

/** Retries a query at the start of the thread until the database answers. */
export function untilAnswered<T>(log: Log, subject: string, query: () => Promise<T>): Promise<T> {
  const backoff = { firstMs: INDEX_RETRY_BASE_MS, longestMs: INDEX_RETRY_BASE_MS };
  return retryUntilSuccess(query, backoff, (err) => {
    log.warn({ err }, `cannot read ${subject}; retrying`);
  });
}

/** Logs repeated failures of a project at intervals. */
function reportFailures(log: Log, message: string): (project: string, err: unknown) => void {
  const failures = new LogLimiter();
  return (project, err) => failures.limited(project, () => log.warn({ err, project }, message));
}

function createIndexes(
  { vectors }: IndexerOptions,
  names: NativeNames,
  log: Log,
  post: Post,
): VersionIndex[] {
  // A crashed thread may have left projects behind whose versions are unknown.
  for (const name of native.projects()) if (names.isOwn(name)) native.dropProject(name);
  const text = new TextIndex(
    (message) => post({ type: "published", index: "text", message }),
    reportFailures(log, "cannot merge text segments; retrying"),
  );
  if (!vectors) return [text];
  const vector = new VectorIndex(
    names,
    (chunk) => log.warn({ chunk }, "a chunk's embedding is all zeros or not finite"),
    reportFailures(log, "cannot maintain an index; retrying"),
  );
  return [vector, text];
}

/**
 * Opens the shared resources of all projects, and the names by which searches find them. `anchor` is the last change
 * that was handed to them.
 */
export async function openContext(
  options: IndexerOptions,
  sql: Sql,
  log: Log,
  post: Post,
  anchor: () => Position,
): Promise<{ context: IndexingContext; names: NativeNames }> {
  const names = new NativeNames(options.instance);
  const fields = new FieldIndex(names);
  const indexes = [fields, ...createIndexes(options, names, log, post)];
  const changes = new ChangeLog(sql);
  const databaseId = await untilAnswered(log, "the database's identity", () =>
    changes.databaseId(),
  );
  const snapshots = new SnapshotStore(options.snapshotRoot);
  const context = {
    log,
    changes,
    databaseId,
    snapshots,
    indexes,
    anchor,
    reader: createVersionReader(sql),
    fields,
    fieldWork: new FieldWork(),
    bulk: pLimit(INDEX_BULK_READERS),
  };
  return { context, names };
}
