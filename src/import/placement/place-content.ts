import type { Queryable } from "../../db/client.ts";
import { abbreviate } from "../../shared/abbreviate.ts";
import { LineError } from "../records/line-error.ts";
import type { RecordOf } from "../records/records.ts";
import type { Known } from "./directory.ts";
import type { PreparedFile } from "./file-record.ts";
import { canonicalJson, derivedId } from "./ids.ts";
import { projectId } from "./place-identity.ts";
import { identify, type Placement } from "./placement.ts";
import { arrayLiteral } from "./rows.ts";
import { stageWorkingSet } from "./scopes.ts";

export function placeEnvironment(
  record: RecordOf<"environment">,
  placement: Placement,
  where: string,
): void {
  const { directory, rows, activeReleases } = placement;
  const project = projectId(placement, record.project);
  const environment = identify(directory.environments, "environment", {
    id: record.id,
    parent: project,
    key: record.name,
  });
  rows.put("environments", environment.id, environment.fresh === true, {
    id: environment.id,
    project_id: project,
    name: record.name,
    protected: record.protected?.toString(),
    domains: record.domains && arrayLiteral(record.domains),
    environment_variables:
      record.environment_variables && canonicalJson(record.environment_variables),
    server_hostname: record.server_hostname,
  });
  if (record.active_release !== undefined) {
    activeReleases.push({
      where,
      projectId: project,
      environmentId: environment.id,
      release: record.active_release,
    });
  }
}

export function placeRelease(record: RecordOf<"release">, placement: Placement): void {
  const { directory, rows } = placement;
  const project = projectId(placement, record.project);
  const environment =
    record.environment === undefined
      ? undefined
      : environmentId(placement, project, record.environment, "environment");
  const wanted = { id: record.id, parent: project, key: record.name };
  const release = identify(directory.releases, "release", wanted);
  rows.put("releases", release.id, release.fresh === true, {
    id: release.id,
    project_id: project,
    name: record.name,
    export_status: record.export_status,
    build_status: record.build_status,
    deploy_status: record.deploy_status,
  });
  if (isFrozen(release)) return;
  placement.releases.add(release.id);
  if (environment !== undefined) {
    placement.afterwards.push((sql: Queryable) => stageWorkingSet(sql, environment, release.id));
  }
}

export function placeFile(record: PreparedFile, placement: Placement): void {
  const { directory, rows } = placement;
  const project = projectId(placement, record.project);
  const inProject = (key: string) => ({ parent: project, key });
  directory.environments.need(...record.environments.map(inProject));
  directory.releases.need(
    ...record.releases.flatMap((name) => [
      inProject(name),
      { id: derivedId("release", project, name) },
    ]),
  );
  const environments = record.environments.map((name, i) =>
    environmentId(placement, project, name, `environments[${i}]`),
  );
  const file = findFile(record, project, placement);
  const version = findVersion(record, file, placement);
  const releases = admittingReleases(record, project, file.id, version.id, placement);

  // Nothing refuses the record from here on.
  if (file.fresh) {
    rows.put("files", file.id, true, { id: file.id, project_id: project, path: record.path });
  }
  const owner = { project_id: project, file_id: file.id, file_version_id: version.id };
  if (version.fresh) putVersion(record, owner, placement);
  for (const id of environments) {
    const row = { scope_id: id, ...owner, is_release: "false" };
    rows.put("import_scopes", id + file.id, true, row);
  }
  for (const release of releases) {
    placement.releases.add(release.id);
    const row = { scope_id: release.id, ...owner, is_release: "true" };
    rows.put("import_scopes", release.id + file.id, true, row);
    directory.releaseFiles.place({ id: version.id, parent: release.id, key: file.id });
  }
}

function environmentId(
  { directory }: Placement,
  project: string,
  name: string,
  field: string,
): string {
  const environment = directory.environments.byKey(project, name);
  if (environment === undefined) {
    throw new LineError(`${field}: the project has no environment "${abbreviate(name)}"`);
  }
  return environment.id;
}

function findFile(record: PreparedFile, project: string, { directory }: Placement): Known {
  return identify(directory.files, "file", { id: record.id, parent: project, key: record.path });
}

/** The id of a version holds its fingerprint, so the same key with other contents is noticed. */
function findVersion(record: PreparedFile, file: Known, { directory }: Placement): Known {
  const known = directory.versions.byKey(file.id, record.versionKey);
  const id = derivedId("file_version", file.id, `${record.versionKey}\n${record.fingerprint}`);
  if (known === undefined) {
    const fresh: Known = { id, parent: file.id, key: record.versionKey, fresh: true };
    directory.versions.place(fresh);
    return fresh;
  }
  if (known.id !== id && !record.keyNamesContents) {
    throw new LineError("version_key: names a version of this file with other contents");
  }
  return known;
}

/** The releases that take this version now; those that hold it already are left out. */
function admittingReleases(
  record: PreparedFile,
  project: string,
  fileId: string,
  versionId: string,
  placement: Placement,
): Known[] {
  const { releases, releaseFiles } = placement.directory;
  const known = record.releases.map((name) => releases.byKey(project, name));
  releaseFiles.need(
    ...known
      .filter((release) => release !== undefined && !release.fresh)
      .map((release) => ({ parent: (release as Known).id, key: fileId })),
  );
  const admitting: Known[] = [];
  record.releases.forEach((name, i) => {
    const release = known[i];
    const held = release && heldVersion(release, fileId, placement);
    if (held === versionId) return;
    if (release && isFrozen(release)) {
      const contents = held === undefined ? "without this path" : "with another version of it";
      throw new LineError(`releases[${i}]: "${abbreviate(name)}" is frozen ${contents}`);
    }
    if (held !== undefined) {
      throw new LineError(
        `releases[${i}]: "${abbreviate(name)}" holds another version of this path`,
      );
    }
    if (release !== undefined) admitting.push(release);
  });
  return admitting.concat(createReleases(record, project, placement));
}

function heldVersion(release: Known, fileId: string, { directory }: Placement): string | undefined {
  // What a new release holds is only what this batch placed in it.
  if (release.fresh) return directory.releaseFiles.placed(release.id, fileId)?.id;
  return directory.releaseFiles.byKey(release.id, fileId)?.id;
}

function createReleases(
  record: PreparedFile,
  project: string,
  { directory, rows }: Placement,
): Known[] {
  const created: Known[] = [];
  for (const name of new Set(record.releases)) {
    if (directory.releases.byKey(project, name) !== undefined) continue;
    const release = identify(directory.releases, "release", { parent: project, key: name });
    rows.put("releases", release.id, true, { id: release.id, project_id: project, name });
    created.push(release);
  }
  return created;
}

function isFrozen(release: Known): boolean {
  return release.extra === "frozen";
}

function putVersion(
  record: PreparedFile,
  owner: { project_id: string; file_id: string; file_version_id: string },
  { rows }: Placement,
): void {
  const version = owner.file_version_id;
  rows.put("file_versions", version, true, {
    id: version,
    project_id: owner.project_id,
    file_id: owner.file_id,
    version_key: record.versionKey,
    content: record.content,
    chunk_count: String(record.chunks.length),
  });
  for (const chunk of record.chunks) {
    const id = derivedId("chunk", version, String(chunk.index));
    rows.put("chunks", id, true, {
      id,
      ...owner,
      file_path: record.path,
      index: String(chunk.index),
      content: chunk.content,
      start_offset: String(chunk.startOffset),
      end_offset: String(chunk.endOffset),
      token_count: String(chunk.tokenCount),
      metadata: chunk.metadata,
      dimension: chunk.dimension === null ? null : String(chunk.dimension),
      embedding: chunk.embedding,
    });
  }
}
