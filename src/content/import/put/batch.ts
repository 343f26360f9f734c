import { projectIdsOf } from "../../../auth/project-reference.ts";
import { addressKey } from "../../../auth/users.ts";
import type { Charging } from "../../../db/quotas.ts";
import { RecordError } from "../../../documents/errors.ts";
import { abbreviate } from "../../../domain/abbreviate.ts";
import { isUuid } from "../../../domain/formats.ts";
import { namings } from "../../../domain/reference.ts";
import type { InputRecord } from "../records/batches.ts";
import type { ParsedRecord } from "../records/parsed-record.ts";
import { type ImportTarget, otherProject } from "../records/target.ts";
import {
  idOf,
  idsOf,
  type KnownRow,
  KnownRows,
  type Naming,
  resolveById,
  resolveByKey,
} from "./known-rows.ts";
import { dependsOnStored, type Row, RowSet, type UpdateRules } from "./row-set.ts";
import type { ActiveRelease, ReleaseSources } from "./scopes.ts";

type Kind = ParsedRecord["kind"];
type RecordOfKind<K extends Kind> = Extract<ParsedRecord, { kind: K }>["record"];

/** Fingerprints of embedders by their names. */
export type Fingerprints = Readonly<Record<string, string>>;

export interface BatchContext extends Charging {
  /** The only project whose rows the records may refer to; undefined for all. */
  readonly target: ImportTarget | undefined;
  /** The fingerprints of the embedders that records may name. */
  readonly embedders: Fingerprints;
  /** The number of the batch's first record within the import. */
  readonly firstRecord: number;
  /** Keeps stored projects from being deleted until the transaction ends. */
  hold(projects: ReadonlySet<string>): Promise<void>;
}

/** A record with its number in the batch. */
export interface Line<K extends Kind> {
  readonly line: number;
  readonly where: string;
  readonly record: RecordOfKind<K>;
}

/** The fields of a record for its row. */
interface Draft {
  /** The id that the record gives. */
  readonly id?: string | undefined;
  /** As in KeyReference. */
  readonly derivedId?: string;
  readonly parent?: string;
  /** The name of the row in its parent: its natural key, or else the content that its id is derived from. */
  readonly name: { readonly key: string } | { readonly content: string };
  /** As in KnownRow, if the record gives it. */
  readonly extra?: string | undefined;
  /** Checks dependencies on earlier records. Throws a RecordError. */
  check?(): void;
  /**
   * The fields of the row, from the record and the rows that it refers to. Called in the order of the records. Throws a
   * RecordError.
   */
  fields(row: KnownRow): Readonly<Record<string, unknown>>;
}

/** How rows of a kind are written. */
interface Writing<K extends Kind> {
  readonly kind: K;
  readonly rows: KnownRows;
  readonly table: string;
  readonly rules?: UpdateRules;
}

/** The records of one transaction, which are written kind by kind, with their outcomes. */
export class Batch {
  /** The rejected records, with the reasons. */
  readonly rejected = new Map<InputRecord, string>();
  /** Numbers of the records that have changed rows. */
  readonly changed = new Set<number>();
  changedRows = 0;
  /** Ids of the projects that the records belong to. */
  readonly written = new Set<string>();
  /** The releases to freeze when the import ends, with the environment that each is made from. */
  readonly releases: ReleaseSources = new Map();
  readonly activeReleases: ActiveRelease[] = [];
  /** New file versions that a scope will hold when the import ends. */
  newVersions = 0;
  readonly users: KnownRows;
  readonly projects: KnownRows;
  readonly environments: KnownRows;
  readonly conversations: KnownRows;
  readonly branches: KnownRows;
  readonly #toHold = new Set<string>();

  constructor(
    readonly context: BatchContext,
    readonly records: readonly InputRecord[],
  ) {
    const { target } = context;
    this.users = this.known({
      // An import into one project can neither find nor name users of others.
      table: target === undefined ? "users" : membersOf(target.id),
      key: 'lower(t.email COLLATE "C")',
    });
    this.projects = this.known({ table: "projects", key: "t.slug", extra: "t.embedder" });
    const inProject = { parent: "project_id", key: "t.name" };
    this.environments = this.known({ table: "environments", ...inProject });
    this.branches = this.known({ table: "branches", ...inProject });
    this.conversations = this.known({ table: "conversations", parent: "project_id" });
    for (const input of records) {
      if (input.parsed instanceof RecordError) this.rejected.set(input, input.parsed.message);
    }
  }

  known(naming: Naming): KnownRows {
    return new KnownRows(this.context.sql, naming);
  }

  /** The records of a kind. */
  of<K extends Kind>(kind: K): Line<K>[] {
    return this.records.flatMap(({ parsed, where }, line) => {
      if (parsed instanceof RecordError || parsed.kind !== kind) return [];
      return [{ line, where, record: parsed.record as RecordOfKind<K> }];
    });
  }

  /** Runs work for a record. A RecordError of the work rejects the record. */
  attempt<T>(line: number, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.reject(line, error);
      return undefined;
    }
  }

  reject(line: number, error: unknown): void {
    if (!(error instanceof RecordError)) throw error;
    this.rejected.set(this.records[line] as InputRecord, error.message);
  }

  /** Looks up the users and projects that records refer to, and holds the projects. */
  async loadReferences(): Promise<void> {
    const projects = new Set<string>();
    const users = new Set<string>();
    for (const { parsed } of this.records) {
      if (parsed instanceof RecordError) continue;
      const { kind, record } = parsed;
      if (kind === "project") {
        for (const { user } of [...(record.members ?? []), { user: record.owner }]) users.add(user);
        for (const naming of [record.slug, record.id ?? []].flat()) projects.add(naming);
      }
      if (kind === "api_key") users.add(record.user);
      if (kind === "conversation") users.add(record.created_by);
      if ("project" in record && record.project !== undefined) projects.add(record.project);
      if ("project_id" in record && record.project_id !== undefined)
        projects.add(record.project_id);
    }
    const namesOfUsers = [...users].filter((user) => !isUuid(user));
    await this.users.load(
      [...users].filter(isUuid).map((id) => id.toLowerCase()),
      namesOfUsers.map((user) => ({ parent: "", key: addressKey(user) })),
    );
    const { sql, target, hold } = this.context;
    // The target is held already.
    const held = target === undefined ? await projectIdsOf(sql, projects) : [];
    if (held.length > 0) await hold(new Set(held));
    await this.projects.load(
      [...projects].filter(isUuid).map((id) => id.toLowerCase()),
      [...projects].map((key) => ({ parent: "", key })),
    );
  }

  /** The id of a user who is referred to by id or email. */
  userId(reference: string, field: string, line: number): string {
    const user = isUuid(reference)
      ? this.users.byId(reference.toLowerCase(), line)
      : this.users.byKey("", addressKey(reference), line);
    if (user === undefined)
      throw new RecordError(`${field}: there is no user "${abbreviate(reference)}"`);
    return user.id;
  }

  /** The project that a record refers to. */
  project(reference: string, line: number, field = "project"): KnownRow {
    let project: KnownRow | undefined;
    for (const naming of namings(reference)) {
      project ??=
        "id" in naming
          ? this.projects.byId(naming.id, line)
          : this.projects.byKey("", naming.name, line);
    }
    if (project === undefined) {
      throw new RecordError(`${field}: there is no project "${abbreviate(reference)}"`);
    }
    const { target } = this.context;
    // The slug of the target may be the id of another project, which is the one that such a reference names.
    if (target !== undefined && project.id !== target.id) throw otherProject(field);
    this.written.add(project.id);
    return project;
  }

  projectId(reference: string, line: number, field?: string): string {
    return this.project(reference, line, field).id;
  }

  /** The row that a record refers to by `branch_id` or `conversation_id`. */
  referred(kind: "branch" | "conversation", id: string, line: number): KnownRow {
    const { target } = this.context;
    const rows = kind === "branch" ? this.branches : this.conversations;
    const row = rows.byId(id.toLowerCase(), line);
    if (row === undefined || (target !== undefined && row.parent !== target.id)) {
      throw new RecordError(`${kind}_id: there is no such ${kind} yet`);
    }
    // A conversation may have no project.
    if (row.parent === "" || this.written.has(row.parent)) return row;
    if (target === undefined) this.#toHold.add(row.parent);
    this.written.add(row.parent);
    return row;
  }

  /** Writes the rows of the records of a kind, which are resolved in their order. */
  async put<K extends Kind>(
    { kind, rows, table, rules }: Writing<K>,
    draftOf: (record: RecordOfKind<K>, line: Line<K>) => Draft,
  ): Promise<void> {
    const drafts = this.of(kind).flatMap((each) => {
      const draft = this.attempt(each.line, () => draftOf(each.record, each));
      return draft === undefined ? [] : [{ line: each.line, draft, parent: draft.parent ?? "" }];
    });
    if (drafts.length === 0) return;
    const keys = drafts.flatMap(({ draft: { name, ...draft }, parent }) =>
      "key" in name ? [{ ...draft, parent, ...name }] : [],
    );
    const ids = drafts.flatMap(({ draft: { id, name }, parent }) =>
      "key" in name ? [] : [...idsOf(kind, { id, parent, ...name }).take(1)],
    );
    await rows.load([...keys.map((key) => idOf(kind, key)), ...ids], keys);
    const set = new RowSet();
    let isRepeated = false;
    for (const { line, draft, parent } of drafts) {
      try {
        draft.check?.();
        const { name } = draft;
        const row =
          "key" in name
            ? resolveByKey(rows, kind, { ...draft, parent, ...name }, line)
            : await resolveById(rows, kind, { ...draft, parent, ...name }, line);
        const fields = { ...draft.fields(row), id: row.id };
        isRepeated ||= set.get(row.id) !== undefined;
        set.put(row.id, row.isNew === true, fields, line);
        rows.add({ ...row, extra: draft.extra ?? row.extra });
      } catch (error) {
        this.reject(line, error);
      }
    }
    // The second record may change a row that the first one has stored, so they are written one after the other.
    if (isRepeated && dependsOnStored(rules)) throw new RecordError("is repeated");
    await this.#hold();
    this.count(await set.write(this.context, table, rules));
  }

  /** Holds the projects of branches and conversations that were referred to since the last time. */
  async #hold(): Promise<void> {
    if (this.#toHold.size === 0) return;
    await this.context.hold(this.#toHold);
    this.#toHold.clear();
  }

  /** Counts rows that were written. */
  count(rows: readonly Pick<Row, "lines">[], number = rows.length): void {
    this.changedRows += number;
    for (const { lines } of rows) for (const line of lines) this.changed.add(line);
  }
}

function membersOf(projectId: string): string {
  return `(SELECT u.* FROM users u JOIN memberships m ON m.user_id = u.id
    WHERE m.project_id = '${projectId}')`;
}
