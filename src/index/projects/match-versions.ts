import type { Steps } from "../../domain/steps.ts";
import { FieldProject } from "../fields/field-project.ts";
import { completely } from "../fields/field-work.ts";
import { allMatches, FilterResults } from "../fields/filter-results.ts";
import { fieldsOf } from "../fields/version-fields.ts";
import { addDocument, emptyDocumentSet } from "../segments/index.ts";
import type { VersionReader } from "../versions/version-index.ts";
import type { IndexingContext } from "./indexing-context.ts";

/** Time budget for comparing versions per request. */
const MATCH_WORK_MAX_MS = 1_000;

/** The file versions that are compared with a filter. */
export interface WantedMatches {
  readonly projectId: string;
  /** The user who asks. */
  readonly tenant: string;
  /** Canonical JSON text. */
  readonly filter: string;
  readonly versionIds: readonly string[];
}

interface Matching {
  readonly filter: string;
  readonly versionIds: readonly string[];
  /** False if it has taken too long. */
  evaluate(evaluation: Steps<void>): Promise<boolean>;
}

/** Whether each of the indexed file versions matches; undefined if that takes too long. */
async function matchIndexed(
  project: FieldProject,
  { filter, versionIds, evaluate }: Matching,
): Promise<Map<string, boolean> | undefined> {
  const { table } = project;
  const results = new FilterResults(project, filter);
  for (;;) {
    const set = emptyDocumentSet(table.count);
    const known = new Map<string, boolean>();
    for (const id of versionIds) {
      const number = table.numberOf(id);
      if (number === undefined) continue;
      addDocument(set, number);
      known.set(id, false);
    }
    const members = results.membersIn(set);
    if (members !== undefined) {
      for (const number of members.numbers) known.set(table.idOf(number), true);
      return known;
    }
    if (!(await evaluate(results.evaluate(set)))) return undefined;
  }
}

/** The ids of the file versions that match, read from the database; undefined if that takes too long. */
async function matchStored(
  reader: VersionReader,
  { filter, versionIds, evaluate }: Matching,
): Promise<Set<string> | undefined> {
  const matching = new Set<string>();
  for await (const rows of reader.fields(versionIds)) {
    const read = new FieldProject();
    function* evaluation(): Steps<void> {
      for (const row of rows) {
        yield;
        read.add(fieldsOf(row));
      }
      const { numbers } = yield* allMatches(read, filter);
      for (const number of numbers) matching.add(read.table.idOf(number));
    }
    if (!(await evaluate(evaluation()))) return undefined;
  }
  return matching;
}

/** For each file version 1 if one of its chunks matches a filter, else 0; "late" if they were not compared in time. */
export async function matchVersions(
  { fields, reader, fieldWork }: Pick<IndexingContext, "fields" | "reader" | "fieldWork">,
  { projectId, tenant, filter, versionIds }: WantedMatches,
): Promise<Uint8Array | "late"> {
  const project = fields.find(projectId);
  return await fieldWork.inTurn(tenant, async (run) => {
    const evaluate = async (evaluation: Steps<void>) =>
      (await run(completely(evaluation), { budgetMs: MATCH_WORK_MAX_MS })) === true;
    const known =
      project === undefined
        ? new Map<string, boolean>()
        : await matchIndexed(project, { filter, versionIds, evaluate });
    // The scope may have been given versions that are not indexed yet.
    const rest = versionIds.filter((id) => known?.has(id) === false);
    const stored =
      rest.length === 0
        ? new Set<string>()
        : await matchStored(reader, { filter, versionIds: rest, evaluate });
    if (known === undefined || stored === undefined) return "late";
    return Uint8Array.from(versionIds, (id) => (known.get(id) === true || stored.has(id) ? 1 : 0));
  });
}
