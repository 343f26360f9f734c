import type { AuditAction } from "../../src/auth/audit/actions.ts";
import type { RecordKind } from "../../src/content/import/records/schemas.ts";
import type { Queryable } from "../../src/db/client.ts";
import type { Caller, Sending, TestKey, TestProject } from "../../support/api/api.ts";

/** What a change is made in: a project of its own, with an environment and a release. */
export interface Place {
  readonly project: TestProject;
  readonly owner: Caller;
  readonly ownerEmail: string;
  /** A user who is not a member, unless the change has it otherwise. */
  readonly guest: Caller;
  readonly guestEmail: string;
  /** A key of the owner that is bound to the project. */
  readonly key: TestKey;
  readonly prefix: string;
  readonly folder: string;
}

/** A record of an import. */
export type AnyRecord = { readonly record: RecordKind } & object;

/** A request of an operation. */
export interface Request extends Sending {
  readonly operation: string;
  readonly method: string;
  /** Below `/projects/{slug}` unless it begins with a slash. */
  readonly path: string;
}

/** Changes by their names. */
export type Changes = Readonly<{ [name: string]: Change }>;

/** One change, and all ways to make it. */
export interface Change {
  /** The entries that it leaves, with their details. */
  readonly leaves: readonly (readonly [AuditAction, object])[];
  /** True if the project is made by the change. */
  readonly isNew?: boolean;
  /** True if the guest is an editor. */
  readonly withGuest?: boolean;
  /** Records that are imported before. */
  readonly after?: (place: Place) => readonly AnyRecord[];
  /** Requests, of which the last one makes the change. */
  readonly http?: (place: Place) => readonly Request[];
  /** Arguments of a command, none of which has a space. */
  readonly command?: (place: Place) => string;
  /** Records of an import, over HTTP and by command. */
  readonly records?: (place: Place) => readonly AnyRecord[];
  /** True for records that only a command imports. */
  readonly onlyByCommand?: boolean;
  /** A statement by hand. */
  readonly statement?: (place: Place, sql: Queryable) => Promise<unknown>;
}
