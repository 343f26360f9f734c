import { projectNamed } from "../../auth/project-reference.ts";
import { findUser } from "../../auth/users.ts";
import type { Sql } from "../../db/client.ts";
import { ImportError, RecordError } from "../../documents/errors.ts";
import type { InputRecord } from "./records/batches.ts";
import { parseRecord } from "./records/parse.ts";

/** The place to which files without records of their own are imported. */
export interface ImportDestination {
  /** The id or slug of the project. An unknown slug creates a project. */
  readonly project: string;
  /** The environments whose working sets the files are added to. Missing ones are created. */
  readonly environments: readonly string[];
  /** The email address of the owner of a project that is created. */
  readonly owner: string;
  /** The name or the fingerprint of the embedder of a project that is created; none by default. */
  readonly newEmbedder?: string | undefined;
}

/** The records of the project, its owner and its environments, as far as they do not exist. */
export async function missingRecords(
  sql: Sql,
  { project, environments, owner, newEmbedder: embedder }: ImportDestination,
): Promise<InputRecord[]> {
  const found = await projectNamed(sql, project);
  const records: object[] = [];
  if (found === undefined) {
    const user = await findUser(sql, owner);
    const name = owner.slice(0, owner.indexOf("@"));
    if (user === undefined) records.push({ record: "user", email: owner, name });
    records.push({ record: "project", slug: project, name: project, owner, embedder });
  }
  const present = await sql<{ name: string }[]>`
    SELECT name FROM environments WHERE project_id = ${found?.id ?? null}`;
  for (const name of environments) {
    if (present.some((environment) => environment.name === name)) continue;
    records.push({ record: "environment", project, name });
  }
  return inputRecords(records, project);
}

/** No file can be imported without its project, so an invalid record ends the import. */
export function inputRecords(records: readonly object[], project: string): InputRecord[] {
  try {
    return records.map((record) => ({ where: project, parsed: parseRecord(record) }));
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    throw new ImportError(`the project, environment or owner is not valid: ${error.message}`);
  }
}
