import { type Actor, transactionAs } from "../../auth/audit/actor.ts";
import type { Principal } from "../../auth/principal.ts";
import { holdWritableProject, type Membership } from "../../auth/project-access.ts";
import type { Sql, Transaction } from "../../db/client.ts";
import { isConflict } from "../../db/errors.ts";
import { documentText } from "../../documents/document.ts";
import { RecordError } from "../../documents/errors.ts";
import { abbreviate } from "../../domain/abbreviate.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import { isCurrent, mayChange } from "../../http/conditional.ts";
import type { FileVersion } from "../import/records/file-record.ts";
import { textVersion } from "../import/text-file.ts";
import { findWorkingSet, type WorkingSet } from "../scopes/working-set.ts";
import { summaryOf } from "./list.ts";
import { versionTags } from "./read.ts";
import type { WrittenFile } from "./schema.ts";
import {
  isImported,
  lockFile,
  readVersion,
  replaceFile,
  takeOut,
  type WorkingFile,
} from "./working-files.ts";

/** Maximum attempts to write a file, because another client may store the same new file at the same time. */
const FILE_WRITE_ATTEMPTS = 3;

/** A change of one file of a working set. Another thread can make it. */
export interface FileChange {
  readonly principal: Principal;
  readonly actor: Actor;
  /** The id or the slug of the project. */
  readonly project: string;
  /** The path under which the file is stored. */
  readonly path: string;
  /** The name of the environment; undefined for the default one of the project. */
  readonly environment: string | undefined;
  /** The conditions of the request; null without one. */
  readonly ifMatch: string | null;
  readonly ifNoneMatch: string | null;
}

/** A text to be stored as a file. */
export interface NewText {
  readonly change: FileChange;
  /** The text in UTF-8. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isMarkdown: boolean;
  /** False if the request gives the body another media type. */
  readonly isText: boolean;
}

export const MARKDOWN_TYPE = "text/markdown";
export const PLAIN_TYPE = "text/plain";

export interface Written {
  readonly projectId: string;
  readonly file: WrittenFile;
  readonly created: boolean;
  /** The release that its environment serves instead of the working set. */
  readonly serves: string | null;
}

interface Changing {
  readonly tx: Transaction;
  readonly project: Membership;
  readonly set: WorkingSet;
  /** The current version under the path. It stays current until the transaction ends. */
  lock(): Promise<WorkingFile | undefined>;
}

/**
 * Runs a change of one file in a transaction, which holds its project. It begins again when another client has stored
 * the same file for the first time. Throws the problem of a caller without the right, and that of a missing
 * environment.
 */
async function changing<T>(
  sql: Sql,
  { principal, actor, project: reference, path, environment }: FileChange,
  work: (change: Changing) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transactionAs(sql, actor, async (tx) => {
        const project = await holdWritableProject(tx, principal, reference);
        const set = await findWorkingSet(tx, project.id, environment);
        return await work({ tx, project, set, lock: () => lockFile(tx, set, path) });
      });
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (attempt === FILE_WRITE_ATTEMPTS) throw new Problem("overloaded", { cause: error });
    }
  }
}

function requireMatch(
  { ifMatch, ifNoneMatch }: FileChange,
  current: WorkingFile | undefined,
): void {
  // A text that was cut into chunks meanwhile is still the same file.
  const tags = current === undefined ? [undefined] : versionTags(current.versionId);
  if (!tags.some((tag) => mayChange(ifMatch, tag))) throw new Problem("precondition-failed");
  if (!tags.some((tag) => tag !== undefined && isCurrent(ifNoneMatch, tag))) return;
  throw new Problem("precondition-failed", {
    detail: "The file exists, which If-None-Match excludes.",
  });
}

/** Reads a text and cuts it into chunks. Throws the problem of an invalid text. */
async function versionOf({ change, bytes, isMarkdown, isText }: NewText): Promise<FileVersion> {
  const { path } = change;
  if (!isText) {
    throw new Problem("unsupported-media-type", {
      detail: `This operation accepts ${MARKDOWN_TYPE} and ${PLAIN_TYPE}, in UTF-8.`,
      headers: { accept: `${MARKDOWN_TYPE}, ${PLAIN_TYPE}` },
    });
  }
  try {
    return await textVersion({ path, content: documentText(bytes), isMarkdown });
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    throw invalid(
      [{ field: "body", message: error.message }],
      `${abbreviate(path)} ${error.message}.`,
    );
  }
}

/**
 * Stores a text as a version of its file, and puts it into the working set. Cutting it into chunks takes time, so it
 * happens before others have to wait for the file. Throws the problem of an invalid text.
 *
 * @param isAllowed true if the caller is known to have the right; otherwise it is checked before the text is cut
 */
export async function storeText(sql: Sql, text: NewText, isAllowed = false): Promise<Written> {
  const { change } = text;
  let cut = isAllowed ? await versionOf(text) : undefined;
  return await changing(sql, change, async ({ tx, project, set, lock }) => {
    cut ??= await versionOf(text);
    const current = await lock();
    requireMatch(change, current);
    const version =
      current !== undefined && (await isImported(tx, current.versionId, cut))
        ? current.versionId
        : await replaceFile(tx, set, cut, current);
    const summary = summaryOf(await readVersion(tx, version));
    const { warning } = cut;
    const file = warning ? { ...summary, warnings: [{ message: warning }] } : summary;
    const { id: projectId } = project;
    return { projectId, file, created: current === undefined, serves: set.serves };
  });
}

/**
 * Takes a file out of the working set. Returns the release that its environment serves instead, if any. Throws
 * `file-not-found`.
 */
export async function removeFile(sql: Sql, change: FileChange): Promise<string | null> {
  return await changing(sql, change, async ({ tx, set, lock }) => {
    const current = await lock();
    if (current === undefined) throw new Problem("file-not-found");
    requireMatch(change, current);
    await takeOut(tx, set, [change.path]);
    return set.serves;
  });
}
