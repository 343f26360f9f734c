import { type CompiledFilter, compileFilter } from "../../shared/filter/compile.ts";
import type { Steps } from "../../shared/filter/steps.ts";
import { evaluateInTurns } from "../../shared/filter/turns.ts";
import { parseJson } from "../../shared/json/parse.ts";
import { addDocument, emptyDocumentSet } from "../../text/index.ts";
import type { FieldProject } from "../fields/field-project.ts";
import { FilterResults } from "../fields/filter-results.ts";
import { fieldsOf, matchesFields } from "../fields/version-fields.ts";
import type { VersionReader } from "../versions/version-index.ts";
import type { IndexingContext } from "./indexing-context.ts";

type Turns = IndexingContext["filterTurns"];

/** Whether each of these file versions matches, of those that are indexed. */
async function matchIndexed(
  project: FieldProject,
  filter: CompiledFilter,
  versionIds: readonly string[],
  turns: Turns,
): Promise<Map<string, boolean>> {
  const results = new FilterResults(project, filter);
  for (;;) {
    const set = emptyDocumentSet(project.count);
    const known = new Map<string, boolean>();
    for (const id of versionIds) {
      const number = project.numberOf(id);
      if (number === undefined) continue;
      addDocument(set, number);
      known.set(id, false);
    }
    const members = results.membersIn(set);
    if (members === undefined) await evaluateInTurns(turns, results.evaluate(set));
    else {
      for (const number of members.numbers) known.set(project.idOf(number), true);
      return known;
    }
  }
}

/** The ids of those file versions that match. Reads them from the database. */
async function matchStored(
  reader: VersionReader,
  filter: CompiledFilter,
  versionIds: readonly string[],
  turns: Turns,
): Promise<Set<string>> {
  const matching = new Set<string>();
  for await (const rows of reader.fields(versionIds)) {
    function* evaluation(): Steps<void> {
      for (const row of rows) {
        yield;
        if (yield* matchesFields(filter, fieldsOf(row))) matching.add(row.file_version_id);
      }
    }
    await evaluateInTurns(turns, evaluation());
  }
  return matching;
}

/** For each file version 1 if one of its chunks matches a filter, else 0. */
export async function matchVersions(
  { fields, reader, filterTurns }: Pick<IndexingContext, "fields" | "reader" | "filterTurns">,
  projectId: string,
  json: string,
  versionIds: readonly string[],
): Promise<Uint8Array> {
  const filter = compileFilter(parseJson(json) as Record<string, unknown>);
  const project = fields.find(projectId);
  const known =
    project === undefined
      ? new Map<string, boolean>()
      : await matchIndexed(project, filter, versionIds, filterTurns);
  // The scope may have been given versions that are not indexed yet.
  const unknown = versionIds.filter((id) => !known.has(id));
  const stored =
    unknown.length === 0
      ? new Set<string>()
      : await matchStored(reader, filter, unknown, filterTurns);
  return Uint8Array.from(versionIds, (id) => (known.get(id) === true || stored.has(id) ? 1 : 0));
}
