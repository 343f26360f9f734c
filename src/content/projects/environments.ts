import { Type } from "@sinclair/typebox";
import { holdOwnedProject, holdWritableProject } from "../../auth/project-access.ts";
import type { Sql, Transaction } from "../../db/client.ts";
import { taken } from "../../db/errors.ts";
import { charge } from "../../db/quotas.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { omitNulls } from "../../domain/rows.ts";
import { ProjectParams, text } from "../../domain/schemas.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { findWorkingSet, lockRelease, type VersionSet } from "../scopes/working-set.ts";
import { type ChangeCall, changing } from "./change.ts";
import { insertEnvironment } from "./queries.ts";
import { EnvironmentChange, EnvironmentSummary, NewEnvironment } from "./schema.ts";
import { copyVersions, lockServed, removeEnvironment } from "./scope-queries.ts";

const EXAMPLE: EnvironmentSummary = {
  id: "7a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
  name: "production",
  protected: false,
  domains: [],
  environment_variables: [],
  active_release_id: "5e4f3a2b-1c0d-4e8f-9a7b-6c5d4e3f2a1b",
};

const NEW_EXAMPLE: EnvironmentSummary = {
  id: "9c8b7a6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d",
  name: "preview",
  protected: false,
  domains: ["preview.example.com"],
  environment_variables: [],
};

const environmentParams = (example: string) =>
  Type.Object({
    ...ProjectParams.properties,
    environmentName: text("The name of the environment.", example),
  });

type ContentsOf = NonNullable<NewEnvironment["contents_of"]>;

/**
 * The file versions that a new environment begins with. Throws `environment-not-found` and `release-not-found`.
 *
 * @param from the name of an environment, or else of a release, if it is a string
 */
async function lockContents(
  tx: Transaction,
  projectId: string,
  from: ContentsOf,
): Promise<VersionSet> {
  const named = typeof from === "string" ? { environment: from, release: from } : from;
  if ("environment" in named) {
    const served = await lockServed(tx, projectId, named.environment);
    if (served !== undefined) return served;
    if (!("release" in named)) throw new Problem("environment-not-found");
  }
  return { kind: "release", id: await lockRelease(tx, projectId, named.release) };
}

/**
 * Creates an environment, empty or with the contents of another one or of a release. Throws `project-not-found`,
 * `permission-denied`, `environment-name-taken`, `environment-not-found`, `release-not-found` and `quota-exceeded`.
 */
async function createEnvironment(
  sql: Sql,
  call: ChangeCall,
  { contents_of: from, ...input }: NewEnvironment,
): Promise<EnvironmentSummary> {
  const created = changing(sql, call, holdWritableProject, async (tx, projectId) => {
    const source = from === undefined ? undefined : await lockContents(tx, projectId, from);
    const { stored_bytes: own, ...environment } = await insertEnvironment(tx, projectId, input);
    const copied =
      source === undefined ? 0 : await copyVersions(tx, projectId, source, environment.id);
    await charge(tx, projectId, { bytes: own + copied });
    return omitNulls(environment);
  });
  return await created.catch(taken("environments_project_id_name_key", "environment-name-taken"));
}

/**
 * Lets an environment serve a release, or its working set. Throws `project-not-found`, `permission-denied`,
 * `environment-not-found` and `release-not-found`.
 */
export async function activate(
  sql: Sql,
  call: ChangeCall,
  { environment, release }: { readonly environment: string; readonly release: string | null },
): Promise<EnvironmentSummary> {
  return await changing(sql, call, holdWritableProject, async (tx, projectId) => {
    const { id } = await findWorkingSet(tx, projectId, environment);
    const activeId = release === null ? null : await lockRelease(tx, projectId, release);
    await tx`
      UPDATE environments SET active_release_id = ${activeId}
      WHERE id = ${id} AND active_release_id IS DISTINCT FROM ${activeId}`;
    const [row] = await tx<EnvironmentSummary[]>`
      SELECT id, name, protected, domains, environment_variables,
        active_release_id, server_hostname
      FROM environments WHERE id = ${id}`;
    if (row === undefined) throw new Problem("environment-not-found");
    return omitNulls(row);
  });
}

/**
 * Deletes an environment with its working set. Files, their versions and releases stay. Throws `project-not-found`,
 * `permission-denied` for all but owners, and `environment-not-found`.
 */
async function deleteEnvironment(sql: Sql, call: ChangeCall, name: string): Promise<void> {
  await changing(sql, call, holdOwnedProject, async (tx, projectId) => {
    const { id } = await findWorkingSet(tx, projectId, name);
    const bytes = await removeEnvironment(tx, id);
    if (bytes === undefined) throw new Problem("environment-not-found");
    await charge(tx, projectId, { bytes: -bytes });
  });
}

const EDITORS = "The caller needs the role `owner` or `editor`.";

const COMMON = { tag: "Projects", extension: true, permission: "releases.write" } as const;
const ENVIRONMENTS_PATH = "/projects/{project_reference}/environments";
const ENVIRONMENT_PATH = `${ENVIRONMENTS_PATH}/{environmentName}`;

/** Operations that create, change and delete environments. */
export function environmentOperations({ sql }: { readonly sql: Sql }): Operation[] {
  return [createOperation(sql), updateOperation(sql), deleteOperation(sql)];
}

function createOperation(sql: Sql): Operation {
  return operation({
    ...COMMON,
    id: "createEnvironment",
    method: "POST",
    path: ENVIRONMENTS_PATH,
    summary: "Create an environment",
    description:
      "The environment is empty, or begins with the files that another environment serves, or with those of a " +
      `release. ${EDITORS}`,
    params: ProjectParams,
    body: NewEnvironment,
    bodyExample: {
      name: NEW_EXAMPLE.name,
      domains: NEW_EXAMPLE.domains,
      contents_of: { environment: "production" },
    },
    status: 201,
    response: EnvironmentSummary,
    responseExample: NEW_EXAMPLE,
    problems: [
      "validation-failed",
      "permission-denied",
      "project-not-found",
      "environment-not-found",
      "release-not-found",
      "environment-name-taken",
      "quota-exceeded",
    ],
    handle: (call) => createEnvironment(sql, call, call.body),
  });
}

function updateOperation(sql: Sql): Operation {
  return operation({
    ...COMMON,
    id: "updateEnvironment",
    method: "PATCH",
    path: ENVIRONMENT_PATH,
    summary: "Let an environment serve a release or its working set",
    description: `Searches see the change within a second. ${EDITORS}`,
    params: environmentParams(EXAMPLE.name),
    body: EnvironmentChange,
    changesAccess: true,
    bodyExample: { active_release: "v1.0.0" },
    response: EnvironmentSummary,
    responseExample: EXAMPLE,
    problems: [
      "validation-failed",
      "permission-denied",
      "project-not-found",
      "environment-not-found",
      "release-not-found",
    ],
    handle: (call) =>
      activate(sql, call, {
        environment: call.params.environmentName,
        release: call.body.active_release,
      }),
  });
}

function deleteOperation(sql: Sql): Operation {
  return operation({
    ...COMMON,
    id: "deleteEnvironment",
    method: "DELETE",
    path: ENVIRONMENT_PATH,
    summary: "Delete an environment",
    description:
      "Deletes the environment with its working set. The versions of its files stay, and so do releases. The " +
      "caller needs the role `owner`.",
    params: environmentParams(NEW_EXAMPLE.name),
    status: 204,
    changesAccess: true,
    problems: ["permission-denied", "project-not-found", "environment-not-found"],
    handle: (call) => deleteEnvironment(sql, call, call.params.environmentName),
  });
}
