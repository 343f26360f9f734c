import type { Membership } from "../../../auth/project-access.ts";
import { OWNER } from "../../../auth/roles.ts";
import { RecordError } from "../../../documents/errors.ts";
import type { ParsedRecord } from "./parsed-record.ts";

/** The only project that the records of an import may belong to. */
export interface ImportTarget {
  readonly id: string;
  readonly slug: string;
  /** True if the import may change the project itself and the roles of its members. */
  readonly asOwner: boolean;
}

/** The project of a caller as the target of an import. */
export function targetOf({ id, slug, role }: Membership): ImportTarget {
  return { id, slug, asOwner: role === OWNER };
}

/** Kinds that belong to no project. */
const REFUSED_KINDS: ReadonlySet<string> = new Set(["user", "api_key"]);
/** The field that names the project, where it is not `project`. */
const PROJECT_FIELDS: Readonly<Record<string, string>> = { conversation: "project_id" };
/** Kinds whose project is that of a row that they refer to. */
const WITHOUT_PROJECT: ReadonlySet<string> = new Set([
  "project",
  "branch_approval",
  "status_check",
  "message",
  "input_request",
]);

/** The record with the target as its project if it names none. Throws for kinds that are refused. */
export function withTarget(kind: string, record: object, target: ImportTarget): object {
  if (REFUSED_KINDS.has(kind)) {
    throw new RecordError(`record: "${kind}" cannot be imported into a project`);
  }
  if (WITHOUT_PROJECT.has(kind)) return record;
  const field = PROJECT_FIELDS[kind] ?? "project";
  const given = (record as Record<string, unknown>)[field];
  return given === undefined || given === null ? { ...record, [field]: target.id } : record;
}

/** The fault of a record that names another project than the target. */
export const otherProject = (field: string) =>
  new RecordError(`${field}: must be the project of this import`);

/** Throws a RecordError if the record names another project than the target. */
export function requireTarget(parsed: ParsedRecord, target: ImportTarget): void {
  if (parsed.kind === "project") {
    requireTargetProject(parsed.record, target);
    return;
  }
  for (const field of ["project", "project_id"] as const) {
    const reference = (parsed.record as Partial<Record<typeof field, string>>)[field];
    // Without a lookup, so that the answer is the same whether there is such a project or not.
    if (reference === undefined || reference === target.slug) continue;
    if (reference.toLowerCase() === target.id) continue;
    throw otherProject(field);
  }
}

function requireTargetProject(
  { id, slug }: { readonly id?: string; readonly slug: string },
  target: ImportTarget,
): void {
  if (slug !== target.slug) throw new RecordError("slug: must be the project of this import");
  if (id !== undefined && id.toLowerCase() !== target.id) {
    throw new RecordError("id: must be the project of this import");
  }
  if (!target.asOwner) throw new RecordError("record: only an owner may import the project itself");
}
