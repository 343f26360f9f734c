import type { Principal } from "../../auth/principal.ts";
import type { Sql } from "../../db/client.ts";
import type { CursorSigner } from "../../http/cursor.ts";
import { type PageRequest, readListing } from "../../http/pages.ts";
import { fileTitle } from "../../markdown/index.ts";
import { invalid, Problem } from "../../problem/problem.ts";
import { timestamp } from "../../shared/formats.ts";
import type { ScopeName } from "../scopes/queries.ts";
import { currentScope } from "../scopes/resolver.ts";
import { type FileRow, readFiles } from "./queries.ts";
import type { FileListQuery, FilePage, FileSummary } from "./schema.ts";
import { scopeNameOf } from "./scope-name.ts";

/** What a list shows, which its cursors carry. */
interface Question {
  readonly projectId: string;
  readonly scope: ScopeName;
  readonly prefix: string;
}

/** A cursor says itself which list it belongs to. */
const BINDING = "files";
type Key = [path: string, question: Question];

export function summaryOf({ begin, title, updated_at, ...row }: FileRow): FileSummary {
  return { ...row, title: title ?? fileTitle(row.path, begin), updated_at: timestamp(updated_at) };
}

function questionOf(query: FileListQuery): Omit<Question, "projectId"> {
  // Ignoring a filter would show files that it excludes.
  if ("filter" in query) throw invalid([{ field: "filter", message: "is not supported" }]);
  return { scope: scopeNameOf(query), prefix: query.path_prefix ?? "" };
}

interface ListCall {
  readonly principal: Principal;
  readonly reference: string;
  readonly query: FileListQuery;
  readonly page: PageRequest;
}

/**
 * One page of the files of an environment or a release. A cursor continues the list that it was made for;
 * parameters that are sent with it must name the same one. Throws `project-not-found`, that of a missing
 * scope, and `invalid-cursor`.
 */
export async function listFiles(
  sql: Sql,
  cursors: CursorSigner,
  { principal, reference: project, query, page }: ListCall,
): Promise<FilePage> {
  const given = questionOf(query);
  const continued = page.cursor === undefined ? undefined : questionIn(cursors, page.cursor);
  const { scope: name, prefix } = continued ?? given;
  const scope = await currentScope(sql, principal, { project, ...name });
  const question = { projectId: scope.projectId, scope: name, prefix };
  if (continued !== undefined) {
    const isSameScope =
      given.scope.kind === "default" ||
      (await currentScope(sql, principal, { project, ...given.scope })).id === scope.id;
    const isSamePrefix = query.path_prefix === undefined || given.prefix === prefix;
    if (!isSameScope || !isSamePrefix || continued.projectId !== scope.projectId) {
      throw new Problem("invalid-cursor", { detail: "The cursor belongs to another list." });
    }
  }
  const { rows, pageInfo } = await readListing<FileRow, Key>(cursors, page, {
    binding: BINDING,
    keyOf: ({ path }) => [path, question],
    after: (key, limit) => readFiles(sql, scope, { prefix, ...(key && { after: key[0] }) }, limit),
    before: ([path], limit) => readFiles(sql, scope, { prefix, before: path }, limit),
  });
  return { data: rows.map(summaryOf), page_info: pageInfo };
}

/** The question of a cursor, which `readListing` put last. Throws `invalid-cursor`. */
function questionIn(cursors: CursorSigner, cursor: string): Question {
  return (cursors.open(BINDING, cursor) as unknown[]).at(-1) as Question;
}
