import { Type } from "@sinclair/typebox";
import { noteReleases } from "../../auth/audit/changes.ts";
import { holdOwnedProject, holdWritableProject } from "../../auth/project-access.ts";
import type { Queryable, Sql } from "../../db/client.ts";
import { taken } from "../../db/errors.ts";
import { charge, type StoredRow } from "../../db/quotas.ts";
import { Problem } from "../../domain/problem/problem.ts";
import { ProjectParams, text } from "../../domain/schemas.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { findWorkingSet, lockRelease } from "../scopes/working-set.ts";
import { type ChangeCall, changing } from "./change.ts";
import { NewRelease, ReleaseSummary } from "./schema.ts";
import { removeRelease } from "./scope-queries.ts";

const ReleaseParams = Type.Object({
  ...ProjectParams.properties,
  version: text("The release's name or its id.", "v1.4.0"),
});

const EXAMPLE: ReleaseSummary = {
  id: "5e4f3a2b-1c0d-4e8f-9a7b-6c5d4e3f2a1b",
  name: "v1.4.0",
  export_status: "pending",
  build_status: "pending",
  deploy_status: "pending",
};

/** Adds a release with the files of an environment's working set. */
async function insertRelease(
  tx: Queryable,
  projectId: string,
  { name, environment }: NewRelease,
): Promise<ReleaseSummary> {
  const { id: from } = await findWorkingSet(tx, projectId, environment);
  const [kept] = await tx`SELECT FROM environments WHERE id = ${from} FOR KEY SHARE`;
  if (kept === undefined) throw new Problem("environment-not-found");
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
export async function createRelease(
  sql: Sql,
  call: ChangeCall,
  input: NewRelease,
): Promise<ReleaseSummary> {
  const created = changing(sql, call, holdWritableProject, (tx, projectId) =>
    insertRelease(tx, projectId, input),
  );
  return await created.catch(taken("releases_project_id_name_key", "release-name-taken"));
}

/**
 * Deletes a release, which is named by its id or its name. Its file versions stay. Throws `project-not-found`,
 * `permission-denied` for all but owners, `release-not-found`, and `release-in-use` while an environment serves it.
 */
export async function deleteRelease(sql: Sql, call: ChangeCall, version: string): Promise<void> {
  await changing(sql, call, holdOwnedProject, async (tx, projectId) => {
    // An environment that is about to serve the release holds a lock that this one waits for.
    const id = await lockRelease(tx, projectId, version, "delete");
    const [served] = await tx`SELECT FROM environments WHERE active_release_id = ${id} LIMIT 1`;
    if (served !== undefined) throw new Problem("release-in-use");
    await charge(tx, projectId, { bytes: -(await removeRelease(tx, projectId, id)) });
  });
}

/** Operations that create and delete releases. */
export function releaseOperations({ sql }: { readonly sql: Sql }): Operation[] {
  return [
    operation({
      id: "createRelease",
      method: "POST",
      path: "/projects/{project_reference}/releases",
      tag: "Projects",
      summary: "Create a release",
      description:
        "Freezes the working set of an environment under a name. The caller needs the role `owner` or `editor`.",
      extension: true,
      permission: "releases.write",
      params: ProjectParams,
      body: NewRelease,
      bodyExample: { name: "v1.4.0", environment: "production" },
      status: 201,
      response: ReleaseSummary,
      responseExample: EXAMPLE,
      problems: [
        "validation-failed",
        "permission-denied",
        "project-not-found",
        "environment-not-found",
        "release-name-taken",
        "quota-exceeded",
      ],
      handle: (call) => createRelease(sql, call, call.body),
    }),
    operation({
      id: "deleteRelease",
      method: "DELETE",
      path: "/projects/{project_reference}/releases/{version}",
      tag: "Projects",
      summary: "Delete a release",
      description:
        "The files stay, in environments and in other releases. A release that an environment serves is not deleted. " +
        "The caller needs the role `owner`.",
      extension: true,
      permission: "releases.write",
      params: ReleaseParams,
      status: 204,
      changesAccess: true,
      problems: ["permission-denied", "project-not-found", "release-not-found", "release-in-use"],
      handle: (call) => deleteRelease(sql, call, call.params.version),
    }),
  ];
}
