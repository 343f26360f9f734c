import { actorOf, transactionAs } from "../../audit/actor.ts";
import type { Principal } from "../../auth/principal.ts";
import {
  findWritableProject,
  holdWritableProject,
  type Membership,
} from "../../auth/project-access.ts";
import type { Sql, Transaction } from "../../db/client.ts";
import { isConflict } from "../../db/errors.ts";
import { requireClient } from "../../http/client-presence.ts";
import { isCurrent, mayChange } from "../../http/conditional.ts";
import { mediaType, requirePlainBody } from "../../http/load/body.ts";
import { documentPath, documentText } from "../../import/records/document.ts";
import { RecordError } from "../../import/records/errors.ts";
import { targetOf } from "../../import/records/target.ts";
import { textVersion } from "../../import/text-file.ts";
import { isMarkdownPath } from "../../markdown/index.ts";
import { invalid, Problem } from "../../problem/problem.ts";
import { isStorable } from "../../shared/formats.ts";
import { IMPORT_PATH_MAX_BYTES } from "../../shared/limits.ts";
import { findWorkingSet, type WorkingSet } from "../scopes/working-set.ts";
import { summaryOf } from "./list.ts";
import { versionTags } from "./read.ts";
import type { WrittenFile } from "./schema.ts";
import { isImported, lockFile, readVersion, replaceFile, takeOut } from "./working-set.ts";

/** Writing a file is repeated this often when another client has stored the same one at the same time. */
const FILE_WRITE_ATTEMPTS = 3;

export const MARKDOWN_TYPE = "text/markdown";
export const PLAIN_TYPE = "text/plain";

export interface WriteServices {
  readonly sql: Sql;
}

interface WriteCall {
  readonly principal: Principal;
  readonly requestId: string;
  readonly params: { readonly project_reference: string; readonly file_reference: string };
  readonly query: { readonly environment?: string };
  readonly request: Request;
}

export interface PutCall extends WriteCall {
  readBody(): Promise<Uint8Array<ArrayBuffer>>;
}

function requirePath(path: string): void {
  // A segment that cannot be decoded arrives empty.
  const fault =
    !path || !isStorable(path)
      ? "must be percent-encoded text in UTF-8, not empty and without NUL characters"
      : Buffer.byteLength(path) > IMPORT_PATH_MAX_BYTES
        ? `must have at most ${IMPORT_PATH_MAX_BYTES} bytes`
        : undefined;
  if (fault !== undefined) throw invalid([{ field: "file_reference", message: fault }]);
}

/** The media type of the body, which must be text in UTF-8 as it is. */
function requireText(request: Request): string {
  const type = mediaType(request);
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(request.headers.get("content-type") ?? "");
  const isUtf8 = charset === null || /^(?:utf-?8|us-ascii)$/i.test(charset[1] as string);
  if ((type !== MARKDOWN_TYPE && type !== PLAIN_TYPE) || !isUtf8) {
    throw new Problem("unsupported-media-type", {
      detail: `This operation accepts ${MARKDOWN_TYPE} and ${PLAIN_TYPE}, in UTF-8.`,
      headers: { accept: `${MARKDOWN_TYPE}, ${PLAIN_TYPE}` },
    });
  }
  requirePlainBody(request);
  return type;
}

function textOf(bytes: Uint8Array): string {
  try {
    return documentText(bytes);
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    throw invalid([{ field: "body", message: error.message }], `The body ${error.message}.`);
  }
}

interface Change {
  readonly tx: Transaction;
  readonly project: Membership;
  readonly set: WorkingSet;
  /** What the path names now. */
  readonly current: { readonly fileId: string; readonly versionId: string } | undefined;
}

/**
 * Runs a change of one file in a transaction, which holds the file. It begins again when another client has
 * stored the same file for the first time. Throws what a caller without the right gets, and that of a missing
 * environment.
 */
async function changing<T>(
  sql: Sql,
  { principal, requestId, params, query }: WriteCall,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const actor = actorOf(principal, requestId);
  for (let attempt = 1; ; attempt++) {
    try {
      return await transactionAs(sql, actor, async (tx) => {
        const project = await holdWritableProject(tx, principal, params.project_reference);
        const set = await findWorkingSet(tx, project.id, query.environment);
        const current = await lockFile(tx, set, params.file_reference);
        return await work({ tx, project, set, current });
      });
    } catch (error) {
      if (!isConflict(error) || attempt === FILE_WRITE_ATTEMPTS) throw error;
    }
  }
}

function requireMatch(request: Request, current: Change["current"]): void {
  // A text that was cut into chunks meanwhile is still the same file.
  const tags = current === undefined ? [undefined] : versionTags(current.versionId);
  const [match, noneMatch] = ["if-match", "if-none-match"].map((name) => request.headers.get(name));
  if (!tags.some((tag) => mayChange(match ?? null, tag))) throw new Problem("precondition-failed");
  if (!tags.some((tag) => tag !== undefined && isCurrent(noneMatch ?? null, tag))) return;
  throw new Problem("precondition-failed", {
    detail: "The file exists, which If-None-Match excludes.",
  });
}

/**
 * Writes a file of a working set. Throws `project-not-found`, `permission-denied`, `environment-not-found`,
 * `precondition-failed`, and problems of the body.
 */
export async function putFile(
  { sql }: WriteServices,
  call: PutCall,
): Promise<{ file: WrittenFile; created: boolean }> {
  const { request } = call;
  const path = documentPath(call.params.file_reference);
  requirePath(path);
  const bytes = await call.readBody();
  await requireClient(request);
  // Before the transaction, in which others wait for the file: only callers with the right make the text be cut.
  const { id } = await findWritableProject(sql, call.principal, call.params.project_reference);
  await findWorkingSet(sql, id, call.query.environment);
  const isMarkdown = requireText(request) === MARKDOWN_TYPE || isMarkdownPath(path);
  const content = textOf(bytes);
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  const text = await textVersion(id, { path, content, isMarkdown });
  return await changing(sql, call, async ({ tx, project, set, current }) => {
    requireMatch(request, current);
    // The project of the same name may be another one by now.
    const record = { ...text, project: project.id };
    const version =
      current !== undefined && (await isImported(tx, current.versionId, content, hash))
        ? current.versionId
        : await replaceFile(tx, targetOf(project), set, record, current?.versionId);
    const summary = summaryOf(await readVersion(tx, version));
    const { warning } = text;
    const file = warning ? { ...summary, warnings: [{ message: warning }] } : summary;
    return { file, created: current === undefined };
  });
}

/** Takes a file out of a working set. Throws as `putFile` does, and `file-not-found`. */
export async function deleteFile({ sql }: WriteServices, call: WriteCall): Promise<void> {
  const path = call.params.file_reference;
  requirePath(path);
  await changing(sql, call, async ({ tx, set, current }) => {
    if (current === undefined) throw new Problem("file-not-found");
    requireMatch(call.request, current);
    await takeOut(tx, set, { fileId: current.fileId, path });
  });
}
