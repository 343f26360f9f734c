import { deflateSync, inflateSync } from "node:zlib";
import { documentPath } from "../../domain/paths.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import { withTimes } from "../../domain/rows.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Engine } from "../../engine/engine.ts";
import type { CursorSigner } from "../../http/cursor.ts";
import { type ListServices, type ProjectListCall, readListing } from "../../http/pages.ts";
import {
  type FilterText,
  filteredScope,
  readFilterParameter,
  validFilter,
} from "../scopes/filter.ts";
import type { ScopeName } from "../scopes/queries.ts";
import { currentScope } from "../scopes/resolver.ts";
import { scopeNameOf } from "../scopes/scope-query.ts";
import { type FileRow, type PathRange, readFiles } from "./queries.ts";
import type { FileListQuery, FilePage, FileSummary } from "./schema.ts";

/** Files that a filtered list reads and evaluates per step. */
const FILES_FILTERED_ROWS = 1_000;
/** A filter of a list in its packed form, in which cursors have it. */
const FILES_FILTER_MAX_CHARS = 6_000;

/** The question of a list, which its cursors carry. */
interface Question {
  readonly projectId: string;
  readonly scope: ScopeName;
  readonly prefix: string;
  /** The filter, packed, as cursors have a bounded length. Absent without one. */
  readonly filter?: string;
}

/** A cursor contains the question of its list, so all lists share this binding. */
const BINDING = "files";
type Key = [path: string, question: Question];

export function summaryOf(row: FileRow): FileSummary {
  return withTimes(row);
}

function questionOf(query: FileListQuery): Omit<Question, "projectId"> {
  const filter = validFilter(readFilterParameter(query.filter));
  const asked = { scope: scopeNameOf(query), prefix: documentPath(query.path_prefix ?? "") };
  return filter === null ? asked : { ...asked, filter: packed(filter) };
}

function packed(filter: string): string {
  const text = Buffer.from(deflateSync(filter)).toString("base64");
  if (text.length <= FILES_FILTER_MAX_CHARS) return text;
  throw invalid([{ field: "filter", message: "is too long for a list" }]);
}

function unpacked(text: string | undefined): FilterText {
  return text === undefined ? null : inflateSync(Buffer.from(text, "base64")).toString();
}

/** True if the parameters that are sent with a cursor, as far as there are any, name the same list. */
function isSameList(query: FileListQuery, given: Omit<Question, "projectId">, asked: Question) {
  const isSamePrefix = query.path_prefix === undefined || given.prefix === asked.prefix;
  return isSamePrefix && (query.filter === undefined || given.filter === asked.filter);
}

/**
 * The first files of a range that a filter matches, or the last ones before a path. The engine evaluates
 * the versions that the database has now, whether or not they are indexed.
 */
async function readMatching(
  { sql, engine }: FileServices,
  scope: Scope,
  { limit, ...range }: PathRange,
): Promise<FileRow[]> {
  const found: FileRow[] = [];
  for (let rest: PathRange = { ...range, limit: FILES_FILTERED_ROWS }; found.length < limit; ) {
    const rows = await readFiles(sql, scope, rest);
    const versionIds = rows.map((row) => row.version_id);
    const matched = rows.length === 0 ? [] : await engine.matching(scope, versionIds);
    found.push(...rows.filter((_, i) => matched[i] === 1));
    const last = rows.at(-1);
    if (last === undefined || rows.length < FILES_FILTERED_ROWS) break;
    rest = { ...rest, [rest.before === undefined ? "after" : "before"]: [last.path] };
  }
  return found.slice(0, limit);
}

interface FileServices extends ListServices {
  readonly engine: Pick<Engine, "matching">;
}

/**
 * One page of the files of an environment or a release. A cursor continues the list that it was made for;
 * parameters that are sent with it must name the same one. Throws `project-not-found`, that of a missing
 * scope, and `invalid-cursor`.
 */
export async function listFiles(
  services: FileServices,
  call: ProjectListCall & { readonly query: FileListQuery },
): Promise<FilePage> {
  const { sql, cursors } = services;
  const { principal, params, query } = call;
  const project = params.project_reference;
  const given = questionOf(query);
  const continued = query.cursor === undefined ? undefined : questionIn(cursors, query.cursor);
  const { scope: name, prefix, filter } = continued ?? given;
  const scope = await currentScope(sql, principal, { project, ...name });
  const question: Question = { ...(continued ?? given), projectId: scope.projectId };
  if (continued !== undefined) {
    const isSameScope =
      given.scope.kind === "default" ||
      (await currentScope(sql, principal, { project, ...given.scope })).id === scope.id;
    if (
      !isSameScope ||
      !isSameList(query, given, question) ||
      continued.projectId !== scope.projectId
    ) {
      throw new Problem("invalid-cursor", { detail: "The cursor belongs to another list." });
    }
  }
  const part = filteredScope(scope, unpacked(filter));
  return await readListing(cursors, call, {
    binding: BINDING,
    keyOf: ({ path }: FileRow): Key => [path, question],
    read: (range) =>
      filter === undefined
        ? readFiles(sql, scope, { prefix, ...range })
        : readMatching(services, part, { prefix, ...range }),
    itemOf: summaryOf,
  });
}

/** The question of a cursor, which `readListing` put last. Throws `invalid-cursor`. */
function questionIn(cursors: CursorSigner, cursor: string): Question {
  return (cursors.open(BINDING, cursor) as unknown[]).at(-1) as Question;
}
