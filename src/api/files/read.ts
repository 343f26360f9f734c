import { setImmediate as nextTurn } from "node:timers/promises";
import type { Principal } from "../../auth/principal.ts";
import { referenceId } from "../../auth/project-access.ts";
import type { Sql } from "../../db/client.ts";
import { isCurrent, REVALIDATE } from "../../http/conditional.ts";
import { JSON_TYPE } from "../../http/respond.ts";
import {
  fileTitle,
  HeadingScanner,
  isMarkdownPath,
  readFrontmatter,
} from "../../markdown/index.ts";
import { Problem } from "../../problem/problem.ts";
import { isStorable } from "../../shared/formats.ts";
import { currentScope } from "../scopes/resolver.ts";
import { type ScopeQuery, scopeNameOf } from "../scopes/scope-query.ts";
import { summaryOf } from "./list.ts";
import { readContent, readFile } from "./queries.ts";
import type { File, FileHeading } from "./schema.ts";

/** A file is sent, and its headings are read, in pieces of this size, so that nobody waits for a large one. */
const FILE_PIECE_CHARS = 65_536;
/** How long a frozen file may be kept without asking again: a year, the longest that is useful. */
const FILE_IMMUTABLE_SECONDS = 31_536_000;

const IMMUTABLE = `private, max-age=${FILE_IMMUTABLE_SECONDS}, immutable`;

/** The entity tag of a file version, which never changes. */
export const versionTag = (versionId: string) => `"${versionId}"`;

interface ReadCall {
  readonly principal: Principal;
  readonly params: { readonly project_reference: string; readonly file_reference: string };
  readonly query: ScopeQuery;
  readonly request: Request;
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
  const wanted = { id: referenceId(reference), path: reference };
  const row = isStorable(reference) ? await readFile(sql, scope, wanted) : undefined;
  if (row === undefined) throw new Problem("file-not-found");
  const etag = versionTag(row.version_id);
  const headers = { etag, "cache-control": scope.frozen ? IMMUTABLE : REVALIDATE };
  if (isCurrent(request.headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers });
  }
  const stored = await readContent(sql, row.version_id);
  if (stored === undefined) throw new Problem("file-not-found");
  const { content, chunks } = stored;
  const title = row.title ?? fileTitle(row.path, content);
  const pieces = jsonPieces(
    { ...summaryOf({ ...row, title }), ...(await structureOf(row.path, content)) },
    { content, chunks },
  );
  return new Response(bodyOf(content, pieces), {
    headers: { ...headers, "content-type": JSON_TYPE },
  });
}

/** What a reader of Markdown sees besides the text. Large files are read piece by piece. */
async function structureOf(
  path: string,
  content: string | null,
): Promise<Pick<File, "frontmatter" | "headings">> {
  if (content === null || !isMarkdownPath(path)) return { frontmatter: [], headings: [] };
  const { entries, bodyOffset } = readFrontmatter(content);
  const scanner = new HeadingScanner(content, bodyOffset);
  for (let end = FILE_PIECE_CHARS; ; end += FILE_PIECE_CHARS) {
    scanner.advance(end);
    if (end >= content.length) break;
    await nextTurn();
  }
  const headings: FileHeading[] = [];
  for (const { level, text, start, end } of scanner.headings) {
    if (text !== "") headings.push({ level, text, start_offset: start, end_offset: end });
  }
  return { frontmatter: entries, headings };
}

/** A file as JSON, in pieces. The chunks are JSON already. */
function* jsonPieces(
  rest: Omit<File, "content" | "chunks">,
  { content, chunks }: { readonly content: string | null; readonly chunks: string },
): Generator<string> {
  yield `${JSON.stringify(rest).slice(0, -1)},"chunks":${chunks},"content":`;
  if (content === null) yield "null";
  else {
    yield '"';
    for (let at = 0; at < content.length; ) {
      const end = pieceEnd(content, at + FILE_PIECE_CHARS);
      yield JSON.stringify(content.slice(at, end)).slice(1, -1);
      at = end;
    }
    yield '"';
  }
  yield "}";
}

/** Not between the halves of a surrogate pair. */
function pieceEnd(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? end + 1 : end;
}

/** A small file is sent at once, a large one as the client takes it. */
function bodyOf(content: string | null, pieces: Generator<string>): string | ReadableStream {
  if ((content?.length ?? 0) <= FILE_PIECE_CHARS) return [...pieces].join("");
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
}
