import { actorOf } from "../../auth/audit/actor.ts";
import { findWritableProject } from "../../auth/project-access.ts";
import type { Sql } from "../../db/client.ts";
import { isMarkdownPath } from "../../documents/markdown/index.ts";
import { isStorable } from "../../domain/formats.ts";
import { IMPORT_PATH_MAX_BYTES, LARGE_BODY_BYTES } from "../../domain/limits.ts";
import { documentPath, nameFault } from "../../domain/paths.ts";
import { invalid } from "../../domain/problem/problem.ts";
import { mediaType } from "../../http/request.ts";
import { findWorkingSet } from "../scopes/working-set.ts";
import {
  type FileChange,
  MARKDOWN_TYPE,
  PLAIN_TYPE,
  removeFile,
  storeText,
  type Written,
} from "./change-file.ts";
import type { FileCall } from "./read.ts";
import type { UnindexedWrites } from "./unindexed-writes.ts";
import type { WriteThread } from "./write-thread.ts";

export interface WriteServices {
  readonly sql: Sql;
  readonly writes: WriteThread;
  readonly unindexed: UnindexedWrites;
}

interface WriteCall extends FileCall {
  readonly requestId: string;
  readonly query: { readonly environment?: string };
}

interface PutCall extends WriteCall {
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Throws `validation-failed` for a path that no file can have. */
export function requirePath(path: string): void {
  // A segment that cannot be decoded arrives empty.
  const fault =
    !path || !isStorable(path)
      ? "must be percent-encoded text in UTF-8, not empty and without NUL characters"
      : Buffer.byteLength(path) > IMPORT_PATH_MAX_BYTES
        ? `must have at most ${IMPORT_PATH_MAX_BYTES} bytes`
        : nameFault(path);
  if (fault !== undefined) throw invalid([{ field: "file_reference", message: fault }]);
}

/** The media type of the body, if it is text in UTF-8 as it is. */
function textTypeOf(request: Request): string | undefined {
  const type = mediaType(request);
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(request.headers.get("content-type") ?? "");
  const isUtf8 = charset === null || /^(?:utf-?8|us-ascii)$/i.test(charset[1] as string);
  return isUtf8 && (type === MARKDOWN_TYPE || type === PLAIN_TYPE) ? type : undefined;
}

function changeOf({ principal, requestId, params, query, request }: WriteCall): FileChange {
  return {
    principal,
    actor: actorOf(principal, requestId),
    environment: query.environment,
    project: params.project_reference,
    path: documentPath(params.file_reference),
    ifMatch: request.headers.get("if-match"),
    ifNoneMatch: request.headers.get("if-none-match"),
  };
}

/**
 * Writes a file of a working set; a large one on another thread, because reading and storing it takes as long as
 * hundreds of searches. Throws `project-not-found`, `permission-denied`, `environment-not-found`,
 * `precondition-failed`, and problems of the body.
 */
export async function putFile({ sql, writes }: WriteServices, call: PutCall): Promise<Written> {
  const { params, principal, query, request, body: bytes } = call;
  const change = changeOf(call);
  const type = textTypeOf(request);
  const isMarkdown = type === MARKDOWN_TYPE || isMarkdownPath(change.path);
  const text = { change, bytes, isMarkdown, isText: type !== undefined };
  if (bytes.byteLength < LARGE_BODY_BYTES) return await storeText(sql, text);
  // Only callers with the right make the other thread work.
  const { id } = await findWritableProject(sql, principal, params.project_reference);
  await findWorkingSet(sql, id, query.environment);
  return await writes.store(text);
}

/**
 * Takes a file out of a working set. Returns the release that is served instead, if any. Throws as `putFile` does, and
 * `file-not-found`.
 */
export async function deleteFile(sql: Sql, call: WriteCall): Promise<string | null> {
  const change = changeOf(call);
  requirePath(change.path);
  return await removeFile(sql, change);
}
