import { actorOf } from "../../audit/actor.ts";
import { findWritableProject } from "../../auth/project-access.ts";
import type { Sql } from "../../db/client.ts";
import { requireClient } from "../../http/client-presence.ts";
import { mediaType } from "../../http/load/body.ts";
import { isMarkdownPath } from "../../markdown/index.ts";
import { invalid, Problem } from "../../problem/problem.ts";
import { abbreviate } from "../../shared/abbreviate.ts";
import { isStorable } from "../../shared/formats.ts";
import {
  DOCUMENT_MAX_BYTES,
  IMPORT_PATH_MAX_BYTES,
  LARGE_BODY_BYTES,
} from "../../shared/limits.ts";
import { documentPath, nameFault } from "../../shared/paths.ts";
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
import type { Admit, UnseenWrites } from "./unseen-writes.ts";
import type { WriteThread } from "./write-thread.ts";

export interface WriteServices {
  readonly sql: Sql;
  readonly writes: WriteThread;
  readonly unseen: UnseenWrites;
}

interface WriteCall extends FileCall {
  readonly requestId: string;
  readonly query: { readonly environment?: string };
}

export interface PutCall extends WriteCall {
  readBody(tenant?: string, admit?: Admit): Promise<Uint8Array<ArrayBuffer>>;
}

function requirePath(path: string): void {
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

/** Any request may have fewer bytes than a document. Throws `payload-too-large`, among others. */
async function readBody(
  { params, principal, readBody }: PutCall,
  admit: Admit,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await readBody(principal.userId, admit);
  } catch (error) {
    if (!(error instanceof Problem) || error.slug !== "payload-too-large") throw error;
    const remedy = `Split the text into several files, or import it: a document has at most ${DOCUMENT_MAX_BYTES} bytes.`;
    const detail = `${abbreviate(params.file_reference)}: ${error.message} ${remedy}`;
    throw new Problem(error.slug, { ...error.options, detail });
  }
}

function changeOf({ principal, requestId, params, query, request }: WriteCall): FileChange {
  return {
    ...{ principal, actor: actorOf(principal, requestId), environment: query.environment },
    ...{ project: params.project_reference, path: params.file_reference },
    ifMatch: request.headers.get("if-match"),
    ifNoneMatch: request.headers.get("if-none-match"),
  };
}

/**
 * Writes a file of a working set; a large one on another thread, because reading and storing it takes as long as
 * hundreds of searches. Throws `project-not-found`, `permission-denied`, `environment-not-found`,
 * `precondition-failed`, and problems of the body.
 */
export async function putFile(services: WriteServices, call: PutCall): Promise<Written> {
  const { principal, request } = call;
  const write = (admit: Admit) => storeFile(services, call, admit);
  return await services.unseen.during(principal.userId, request.signal, write);
}

async function storeFile(
  { sql, writes }: WriteServices,
  call: PutCall,
  admit: Admit,
): Promise<Written> {
  const { request } = call;
  const path = documentPath(call.params.file_reference);
  requirePath(path);
  const bytes = await readBody(call, admit);
  await requireClient(request);
  const type = textTypeOf(request);
  const isMarkdown = type === MARKDOWN_TYPE || isMarkdownPath(path);
  const text = { change: changeOf(call), path, bytes, isMarkdown, isText: type !== undefined };
  if (bytes.byteLength < LARGE_BODY_BYTES) return await storeText(sql, text);
  // Only callers with the right make the other thread work.
  const { id } = await findWritableProject(sql, call.principal, call.params.project_reference);
  await findWorkingSet(sql, id, call.query.environment);
  return await writes.store(text);
}

/**
 * Takes a file out of a working set. Returns the release that is served instead, if any. Throws as `putFile` does, and
 * `file-not-found`.
 */
export async function deleteFile({ sql }: WriteServices, call: WriteCall): Promise<string | null> {
  requirePath(call.params.file_reference);
  return await removeFile(sql, changeOf(call));
}
