import { setImmediate as nextTurn } from "node:timers/promises";
import type { Principal } from "../../auth/principal.ts";
import type { Sql } from "../../db/client.ts";
import { headingsOf, isMarkdownPath, readFrontmatter } from "../../documents/markdown/index.ts";
import { isStorable } from "../../domain/formats.ts";
import { ANSWER_PIECE_BYTES } from "../../domain/limits.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { findNamed } from "../../domain/reference.ts";
import { responseInPieces, responseOf } from "../../http/load/large-answers.ts";
import { JSON_TYPE, notModified, REVALIDATE } from "../../http/respond.ts";
import { currentScope } from "../scopes/resolver.ts";
import { type ScopeQuery, scopeNameOf } from "../scopes/scope-query.ts";
import { summaryOf } from "./list.ts";
import { type FileRow, readContent, readFile } from "./queries.ts";
import type { File, FileHeading } from "./schema.ts";

/** Size of the pieces in which a file is sent, so that a large one does not block other requests. */
const FILE_PIECE_CHARS = 65_536;
/** Time per slice of reading the headings of a file. */
const HEADINGS_SLICE_MS = 5;
/** Memory per character, in bytes. */
const BYTES_PER_CHAR_MAX = 2;
/** Time for which a client may cache a frozen file with its chunks: a year, the longest useful one. */
const FILE_IMMUTABLE_SECONDS = 31_536_000;

const IMMUTABLE = `private, max-age=${FILE_IMMUTABLE_SECONDS}, immutable`;

/** The entity tags of a file version: without chunks, which an embedder may add once, and with them. */
export const versionTags = (id: string) => [`"${id}"`, `"${id}-uncut"`] as const;

/** The entity tag of a file version as it is now. */
export function versionTag({ version_id, chunk_count }: Pick<FileRow, TagField>): string {
  const [cut, uncut] = versionTags(version_id);
  return chunk_count === 0 ? uncut : cut;
}

type TagField = "version_id" | "chunk_count";

/** A call of an operation on a file. */
export interface FileCall {
  readonly principal: Principal;
  readonly params: { readonly project_reference: string; readonly file_reference: string };
  readonly request: Request;
}

interface ReadCall extends FileCall {
  readonly query: ScopeQuery;
}

/**
 * A file of an environment or a release with its content. Throws `project-not-found`, that of a missing
 * scope, and `file-not-found`.
 */
export async function getFile(
  sql: Sql,
  { principal, params, query, request }: ReadCall,
): Promise<Response> {
  const { project_reference: project, file_reference: reference } = params;
  const scope = await currentScope(sql, principal, { project, ...scopeNameOf(query) });
  const row = isStorable(reference)
    ? await findNamed(reference, (naming) => readFile(sql, scope, naming))
    : undefined;
  if (row === undefined) throw new Problem("file-not-found");
  const etag = versionTag(row);
  const isFinal = scope.frozen && row.chunk_count > 0;
  const headers = { etag, "cache-control": isFinal ? IMMUTABLE : REVALIDATE };
  const unchanged = notModified(request, headers);
  if (unchanged !== undefined) return unchanged;
  const stored = await readContent(sql, row.version_id);
  if (stored === undefined) throw new Problem("file-not-found");
  const { content, chunks } = stored;
  const pieces = jsonPieces(
    { ...summaryOf(row), ...(await structureOf(row.path, content)) },
    { content, chunks },
  );
  const bytes = BYTES_PER_CHAR_MAX * ((content?.length ?? 0) + chunks.length);
  const init = { headers: { ...headers, "content-type": JSON_TYPE } };
  if (bytes <= ANSWER_PIECE_BYTES) return responseOf([...pieces].join(""), init);
  return responseInPieces(encoded(pieces), bytes, init);
}

/** The frontmatter and the headings of a file. Large files are read piece by piece. */
async function structureOf(
  path: string,
  content: string | null,
): Promise<Pick<File, "frontmatter" | "headings">> {
  if (content === null || !isMarkdownPath(path)) return { frontmatter: [], headings: [] };
  const { entries } = readFrontmatter(content);
  const headings: FileHeading[] = [];
  let until = Date.now() + HEADINGS_SLICE_MS;
  for (const found of headingsOf(content)) {
    for (const { level, text, start, end } of found) {
      headings.push({ level, text, start_offset: start, end_offset: end });
    }
    if (Date.now() < until) continue;
    await nextTurn();
    until = Date.now() + HEADINGS_SLICE_MS;
  }
  return { frontmatter: entries, headings };
}

/** A file as JSON, in pieces. The chunks are JSON already. */
function* jsonPieces(
  rest: Omit<File, "content" | "chunks">,
  { content, chunks }: { readonly content: string | null; readonly chunks: string },
): Generator<string> {
  yield `${JSON.stringify(rest).slice(0, -1)},"chunks":`;
  yield* slicesOf(chunks);
  yield ',"content":';
  if (content === null) yield "null";
  else {
    yield '"';
    for (const slice of slicesOf(content)) yield JSON.stringify(slice).slice(1, -1);
    yield '"';
  }
  yield "}";
}

/** A text in pieces, which never end between the halves of a surrogate pair. */
function* slicesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at + FILE_PIECE_CHARS - 1);
    const end = at + FILE_PIECE_CHARS + (unit >= 0xd800 && unit <= 0xdbff ? 1 : 0);
    yield text.slice(at, end);
    at = end;
  }
}

function* encoded(texts: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const text of texts) yield encoder.encode(text);
}
