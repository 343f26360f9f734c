import { randomUUID } from "node:crypto";
import { type Actor, actAs, actorOf } from "../../auth/audit/actor.ts";
import type { Principal } from "../../auth/principal.ts";
import { findProject } from "../../auth/project-access.ts";
import { recordUser } from "../../auth/users.ts";
import { cancelledBy } from "../../db/cancelled-by.ts";
import type { Queryable, Sql, Transaction } from "../../db/client.ts";
import { taken } from "../../db/errors.ts";
import { charge, useReservation, withReservation } from "../../db/quotas.ts";
import { transaction } from "../../db/transaction.ts";
import {
  PROJECT_COPY_RETRY_AFTER_SECONDS,
  PROJECT_COPY_TIMEOUT_MS,
  PROJECT_COPY_WAIT_MAX_MS,
  PROJECT_ENVIRONMENTS_MAX,
} from "../../domain/limits.ts";
import { invalid, Problem } from "../../domain/problem/problem.ts";
import { omitNulls, withTimes } from "../../domain/rows.ts";
import { embedderName, type ProjectEmbedders } from "../../embed/embedders/project-embedders.ts";
import { type ListCall, type ListServices, readListing } from "../../http/pages.ts";
import { FairSemaphore, SERIAL } from "../../ops/tenants/fair-semaphore.ts";
import {
  copyEnvironments,
  copyWorkingSets,
  type FoundProjectRow,
  type FullProjectRow,
  insertEnvironment,
  insertOwner,
  insertProject,
  type ProjectPosition,
  readProjects,
  readStored,
  readTemplates,
  requireEmbedder,
} from "./queries.ts";
import type { NewProject, Project, ProjectPage } from "./schema.ts";

const FIRST_ENVIRONMENT = { name: "production" };

/** A user who copies one project after the other leaves half of the time to others. */
const COPY_REST_FACTOR = 1;

/** Copies of projects, each of which may take the database many seconds. */
const copies = new FairSemaphore({
  ...SERIAL,
  waitMaxMs: PROJECT_COPY_WAIT_MAX_MS,
  restMs: (_, tookMs) => COPY_REST_FACTOR * tookMs,
  late: new Problem("overloaded", {
    detail: "Another project of this user is being copied, or was a moment ago.",
    headers: { "retry-after": String(PROJECT_COPY_RETRY_AFTER_SECONDS) },
  }),
});

function projectOf(row: FullProjectRow): Project {
  const { provider, layout, embedder, environments, releases, users, ...rest } = row;
  return {
    ...omitNulls({
      ...withTimes(rest),
      embedder: embedder === null ? null : embedderName(embedder),
    }),
    environments: environments
      .map(omitNulls)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, PROJECT_ENVIRONMENTS_MAX),
    releases,
    provider,
    layout,
    users: users.map(omitNulls),
  };
}

export interface ProjectServices {
  readonly sql: Sql;
  readonly embedders: ProjectEmbedders;
}

/** The fingerprint of the embedder that a caller names; null without a name. */
export function fingerprintOf(
  embedders: ProjectEmbedders,
  name: string | undefined,
): string | null {
  if (name === undefined) return null;
  const embedder = embedders.get(name);
  if (embedder !== undefined) return embedder.fingerprint;
  const message = `must be one of ${[...embedders.keys()].join(", ")}`;
  throw invalid([{ field: "embedder", message }]);
}

/** One page of the caller's projects in order of slug. Throws `invalid-cursor`. */
export async function listProjects(
  { sql, cursors }: ListServices,
  call: ListCall,
): Promise<ProjectPage> {
  const { principal } = call;
  return await readListing(cursors, call, {
    binding: `projects:${principal.userId}:${principal.projectId ?? ""}`,
    keyOf: (row: FoundProjectRow): ProjectPosition => [row.slug],
    read: (range) => readProjects(sql, principal, range),
    isCut: (rows) => rows.length < (rows[0]?.found ?? 0),
    itemOf: ({ found: _, ...row }) => projectOf(row),
  });
}

/** A project of the caller by its id or slug. Throws `project-not-found`. */
export async function getProject(
  sql: Queryable,
  principal: Principal,
  reference: string,
): Promise<Project> {
  const id = await findProject(sql, principal, reference);
  const [row] = await readProjects(sql, principal, { id, limit: 1 });
  if (row === undefined) throw new Problem("project-not-found");
  const { found: _, ...project } = row;
  return projectOf(project);
}

/** The id of the template in the request; null without a template. */
async function findTemplate(
  tx: Transaction,
  principal: Principal,
  input: NewProject,
): Promise<string | null> {
  const id = input.templateProjectId?.toLowerCase() ?? null;
  const slug = input.templateSlug ?? null;
  if (id === null && slug === null) return null;
  const found = await readTemplates(tx, principal, id, slug);
  const byId = found.find((project) => project.id === id);
  const bySlug = found.find((project) => project.slug === slug);
  if ((id !== null && byId === undefined) || (slug !== null && bySlug === undefined)) {
    throw new Problem("project-not-found", {
      detail: "The template does not exist, or the caller has no access to it.",
    });
  }
  if (byId !== undefined && bySlug !== undefined && byId.id !== bySlug.id) {
    const message = "identifies another project than templateProjectId";
    throw invalid([{ field: "templateSlug", message }]);
  }
  return (byId ?? bySlug)?.id ?? null;
}

async function insertWithTemplate(
  tx: Transaction,
  principal: Principal,
  actor: Actor,
  input: NewProject,
  { id, embedder: given }: { readonly id: string; readonly embedder: string | null },
): Promise<Project> {
  // The template may change while it is copied. All statements must see the same state of it.
  await tx`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`;
  await tx.unsafe(`SET LOCAL statement_timeout = ${PROJECT_COPY_TIMEOUT_MS}`);
  const templateId = await findTemplate(tx, principal, input);
  await actAs(tx, actor);
  if (templateId !== null) await useReservation(tx, id);
  const { slug, name, description = null } = input;
  const values = { id, slug, name, description, templateId, embedder: given };
  const project = await insertProject(tx, values);
  const owner = await insertOwner(tx, id, principal.userId);
  if (templateId === null) {
    const { stored_bytes: _, ...environment } = await insertEnvironment(tx, id, FIRST_ENVIRONMENT);
    await charge(tx, id, await readStored(tx, id));
    return projectOf({ ...project, environments: [environment], releases: [], users: [owner] });
  }
  const environments = await copyEnvironments(tx, templateId, id);
  await copyWorkingSets(tx, templateId, id);
  if (given !== null) await requireEmbedder(tx, id, given);
  await charge(tx, id, await readStored(tx, id), true);
  return projectOf({ ...project, environments, releases: [], users: [owner] });
}

/** A request for a new project. */
interface NewProjectCall {
  readonly principal: Principal;
  readonly requestId: string;
  /** A copy ends when the client has disconnected. */
  readonly request: Request;
}

/**
 * Creates a project that the caller owns, empty or as a copy of a template. Throws
 * `permission-denied` for an API key bound to a project, `project-not-found` for an unknown
 * template, `project-slug-taken`, `quota-exceeded`, `embedder-mismatch` if the chunks of the template have another one,
 * and `overloaded` while another copy of the caller takes long.
 */
export async function createProject(
  { sql, embedders }: ProjectServices,
  { principal, requestId, request: { signal } }: NewProjectCall,
  input: NewProject,
): Promise<Project> {
  const embedder = fingerprintOf(embedders, input.embedder);
  if (principal.projectId !== null) {
    throw new Problem("permission-denied", {
      detail: "An API key that is bound to a project cannot create projects.",
    });
  }
  await recordUser(sql, principal);
  const id = randomUUID();
  const actor = actorOf(principal, requestId);
  const create = () =>
    transaction(sql, (tx) => {
      return insertWithTemplate(cancelledBy(tx, signal), principal, actor, input, { id, embedder });
    });
  const copy = () =>
    withReservation(sql, id, principal.userId, {
      template: (tx) => findTemplate(tx, principal, input),
      copy: create,
      signal,
    });
  const isCopy = input.templateProjectId !== undefined || input.templateSlug !== undefined;
  const created = isCopy ? copies.run(principal.userId, copy, { signal }) : create();
  return await created.catch(taken("projects_slug_key", "project-slug-taken"));
}
