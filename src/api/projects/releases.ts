import { Type } from "@sinclair/typebox";
import { actorOf, transactionAs } from "../../audit/actor.ts";
import { noteReleases } from "../../audit/changes.ts";
import { holdWritableProject } from "../../auth/project-access.ts";
import type { Queryable, Sql, Transaction } from "../../db/client.ts";
import { uniqueViolation } from "../../db/errors.ts";
import { charge, type StoredRow } from "../../db/quotas.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { Problem } from "../../problem/problem.ts";
import { PROJECT_COPY_TIMEOUT_MS } from "../../shared/limits.ts";
import { omitNulls } from "../../shared/rows.ts";
import { ProjectParams, text } from "../../shared/schemas.ts";
import { findWorkingSet } from "../scopes/working-set.ts";
import type { ChangeCall } from "./change.ts";
import { EnvironmentChange, EnvironmentSummary, NewRelease, ReleaseSummary } from "./schema.ts";

const EnvironmentParams = Type.Object({
  ...ProjectParams.properties,
  environmentName: text("The name of the environment.", "production"),
});

const RELEASE_EXAMPLE: ReleaseSummary = {
  id: "5e4f3a2b-1c0d-4e8f-9a7b-6c5d4e3f2a1b",
  name: "v1.4.0",
  export_status: "pending",
  build_status: "pending",
  deploy_status: "pending",
};

const ENVIRONMENT_EXAMPLE: EnvironmentSummary = {
  id: "7a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
  name: "production",
  protected: false,
  domains: [],
  environment_variables: [],
  active_release_id: RELEASE_EXAMPLE.id,
};

/** Runs a change of a project by a caller who may change its contents. */
async function changing<T>(
  sql: Sql,
  { principal, requestId, reference }: ChangeCall,
  work: (tx: Transaction, projectId: string) => Promise<T>,
): Promise<T> {
  return await transactionAs(sql, actorOf(principal, requestId), async (tx) => {
    const { id } = await holdWritableProject(tx, principal, reference);
    return await work(tx, id);
  });
}

/** Adds a release with the files of an environment's working set. */
async function insertRelease(
  tx: Queryable,
  projectId: string,
  { name, environment }: NewRelease,
): Promise<ReleaseSummary> {
  const { id: from } = await findWorkingSet(tx, projectId, environment);
  const [row] = await tx<[ReleaseSummary & StoredRow]>`
    INSERT INTO releases (id, project_id, name) VALUES (gen_random_uuid(), ${projectId}, ${name})
    RETURNING id, name, export_status, build_status, deploy_status, stored_bytes`;
  const { stored_bytes: own, ...release } = row;
  const [contents] = await tx<[{ bytes: number }]>`
    SELECT fill_release(${release.id}, ARRAY(
      SELECT file_version_id FROM environment_files WHERE environment_id = ${from})) AS bytes`;
  await noteReleases(tx, [release.id], [environment]);
  await charge(tx, projectId, { bytes: own + contents.bytes });
  return release;
}

/**
 * Freezes the working set of an environment as a release. Throws `project-not-found`, `permission-denied`,
 * `environment-not-found`, `release-name-taken` and `quota-exceeded`.
 */
async function createRelease(
  sql: Sql,
  caller: ChangeCall,
  input: NewRelease,
): Promise<ReleaseSummary> {
  try {
    return await changing(sql, caller, async (tx, projectId) => {
      await tx.unsafe(`SET LOCAL statement_timeout = ${PROJECT_COPY_TIMEOUT_MS}`);
      return await insertRelease(tx, projectId, input);
    });
  } catch (error) {
    if (uniqueViolation(error) !== "releases_project_id_name_key") throw error;
    throw new Problem("release-name-taken", { cause: error });
  }
}

/**
 * Lets an environment serve a release, or its working set. Throws `project-not-found`, `permission-denied`,
 * `environment-not-found` and `release-not-found`.
 */
async function activate(
  sql: Sql,
  caller: ChangeCall,
  { environment, release }: { readonly environment: string; readonly release: string | null },
): Promise<EnvironmentSummary> {
  return await changing(sql, caller, async (tx, projectId) => {
    const { id } = await findWorkingSet(tx, projectId, environment);
    const [found] = await tx<{ id: string }[]>`
      SELECT id FROM releases WHERE project_id = ${projectId} AND name = ${release}`;
    if (found === undefined && release !== null) throw new Problem("release-not-found");
    const activeId = found?.id ?? null;
    await tx`
      UPDATE environments SET active_release_id = ${activeId}
      WHERE id = ${id} AND active_release_id IS DISTINCT FROM ${activeId}`;
    const [row] = await tx<EnvironmentSummary[]>`
      SELECT id, name, protected, domains, environment_variables,
        active_release_id, server_hostname
      FROM environments WHERE id = ${id}`;
    return omitNulls(row as EnvironmentSummary);
  });
}

const PROBLEMS = [
  "validation-failed",
  "permission-denied",
  "project-not-found",
  "environment-not-found",
] as const;
const EDITORS = "The caller needs the role `owner` or `editor`.";

/** Operations that create releases and let environments serve them. */
export function releaseOperations({ sql }: { readonly sql: Sql }): Operation[] {
  return [
    operation({
      id: "createRelease",
      method: "POST",
      path: "/projects/{project_reference}/releases",
      tag: "Projects",
      summary: "Create a release",
      description: `Freezes the working set of an environment under a name. ${EDITORS}`,
      extension: true,
      permission: "releases.write",
      params: ProjectParams,
      body: NewRelease,
      bodyExample: { name: "v1.4.0", environment: "production" },
      status: 201,
      response: ReleaseSummary,
      responseExample: RELEASE_EXAMPLE,
      problems: [...PROBLEMS, "release-name-taken", "quota-exceeded"],
      handle: ({ principal, requestId, params: { project_reference: reference }, body }) =>
        createRelease(sql, { principal, requestId, reference }, body),
    }),
    operation({
      id: "updateEnvironment",
      method: "PATCH",
      path: "/projects/{project_reference}/environments/{environmentName}",
      tag: "Projects",
      summary: "Let an environment serve a release or its working set",
      description: `Searches see the change within a second. ${EDITORS}`,
      extension: true,
      permission: "releases.write",
      params: EnvironmentParams,
      body: EnvironmentChange,
      changesAccess: true,
      bodyExample: { active_release: "v1.0.0" },
      response: EnvironmentSummary,
      responseExample: ENVIRONMENT_EXAMPLE,
      problems: [...PROBLEMS, "release-not-found"],
      handle({ principal, requestId, params, body }) {
        const { project_reference: reference, environmentName: environment } = params;
        const served = { environment, release: body.active_release };
        return activate(sql, { principal, requestId, reference }, served);
      },
    }),
  ];
}
