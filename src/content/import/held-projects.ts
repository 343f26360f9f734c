import type { Actor } from "../../auth/audit/actor.ts";
import type { Permission } from "../../auth/principal.ts";
import { mayWrite, OWNER } from "../../auth/roles.ts";
import type { Queryable } from "../../db/client.ts";
import { holdProjects } from "../../db/project-lock.ts";
import { ImportError, RecordError } from "../../documents/errors.ts";
import { Problem } from "../../domain/problem/problem.ts";
import type { InputRecord } from "./records/batches.ts";
import type { ImportTarget } from "./records/target.ts";
import type { ImportSession } from "./session.ts";

const PERMISSION: Permission = "projects.import";
/** The rest of the body is not read. */
const headers = { connection: "close" };

/** The role of the caller of an import, unless the credential in use has lost its permission; an operator owns all. */
async function roleOf(sql: Queryable, actor: Actor, target: ImportTarget): Promise<string> {
  const { user_id: userId, key_id: keyId = null } = actor;
  if (userId === undefined) return OWNER;
  const [member] = await sql<{ role: string }[]>`
    SELECT m.role FROM memberships m WHERE m.project_id = ${target.id} AND m.user_id = ${userId}
      AND (${keyId}::uuid IS NULL OR EXISTS (
        SELECT FROM api_keys k WHERE k.id = ${keyId} AND k.revoked_at IS NULL
          AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
          AND (k.scopes = '{}' OR ${PERMISSION} = ANY (k.scopes))))`;
  return member?.role ?? "";
}

/**
 * Keeps the projects of an import from being deleted, transaction by transaction. Throws `project-not-found` if that is
 * the only project that the import may write to, and `permission-denied` if its caller may no longer do so: an upload
 * may take an hour, and a right that is taken away ends sooner.
 */
export class HeldProjects {
  /** @param written ids of the projects that the import has written to */
  constructor(
    private readonly session: ImportSession,
    private readonly target: ImportTarget | undefined,
    private readonly actor: Actor,
    private readonly written: ReadonlySet<string>,
  ) {}

  /** Begins the transaction of a batch: holds the target until it ends. */
  async begin(records: readonly InputRecord[]): Promise<void> {
    const changesProject = ({ parsed }: InputRecord) =>
      !(parsed instanceof RecordError) && parsed.kind === "project";
    await this.#holdTarget(records.some(changesProject));
    if (this.target !== undefined) await this.#keepEmbedders([this.target.id]);
  }

  /** Holds projects of a batch until its transaction ends. Throws a RecordError if one is gone. */
  async hold(projects: ReadonlySet<string>): Promise<void> {
    const ids = [...projects];
    if (!(await holdProjects(this.session.sql, ids))) {
      throw new RecordError("project: no longer exists");
    }
    await this.#keepEmbedders(ids);
  }

  /** The embedders of projects stay as they are: embeddings of a batch are compared with them. */
  async #keepEmbedders(ids: readonly string[]): Promise<void> {
    await this.session.sql`
      SELECT FROM projects WHERE id = ANY (${[...ids]}::uuid[]) ORDER BY id FOR KEY SHARE`;
  }

  /** Runs a step that may write to any project of the import, in a transaction. Throws an ImportError if one is gone. */
  async lastStep<T>(work: () => Promise<T>): Promise<T> {
    const { session, written } = this;
    return await session.transaction(async () => {
      await this.#holdTarget();
      const isWhole = this.target !== undefined || (await holdProjects(session.sql, [...written]));
      if (!isWhole) {
        throw new ImportError(
          "a project of this import has been deleted meanwhile: run this import again",
        );
      }
      return await work();
    });
  }

  async #holdTarget(needsOwner = false): Promise<void> {
    const { session, target, actor } = this;
    if (target === undefined) return;
    if (!(await holdProjects(session.sql, [target.id]))) {
      throw new Problem("project-not-found", { headers });
    }
    const role = await roleOf(session.sql, actor, target);
    if (needsOwner ? role === OWNER : mayWrite(role)) return;
    throw new Problem("permission-denied", {
      detail: "The caller has lost the right to import into the project during the import.",
      headers,
    });
  }
}
