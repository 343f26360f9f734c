import { compileFilter } from "../../../shared/filter/compile.ts";
import { evaluate, fieldsOf, type VersionFields } from "../fields/version-fields.ts";
import { evaluateInTurns } from "./filter-turns.ts";
import type { IndexingContext } from "./indexing-context.ts";

/** For each file version 1 if one of its chunks matches a filter, else 0. */
export async function matchVersions(
  { fields, reader, filterTurns }: Pick<IndexingContext, "fields" | "reader" | "filterTurns">,
  projectId: string,
  json: string,
  versionIds: readonly string[],
): Promise<Uint8Array> {
  const filter = compileFilter(JSON.parse(json) as Record<string, unknown>);
  const known = new Map<string, VersionFields>();
  const project = fields.find(projectId);
  for (const id of versionIds) {
    const version = project?.find(id);
    if (version !== undefined) known.set(id, version);
  }
  // The scope may have been given versions that are not indexed yet.
  const unknown = versionIds.filter((id) => !known.has(id));
  if (unknown.length > 0) {
    for await (const rows of reader.fields(unknown)) {
      for (const row of rows) known.set(row.file_version_id, fieldsOf(row));
    }
  }
  const matched = new Uint8Array(versionIds.length);
  function* evaluation(): Generator<void> {
    for (const [i, id] of versionIds.entries()) {
      yield;
      const version = known.get(id);
      if (version !== undefined && evaluate(filter, version) !== "none") matched[i] = 1;
    }
  }
  await evaluateInTurns(filterTurns, evaluation());
  return matched;
}
