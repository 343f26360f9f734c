import type { Queryable } from "../../db/client.ts";
import { fileTitle } from "../../markdown/index.ts";
import { abbreviate } from "../../shared/abbreviate.ts";
import { derivedId, type IdOrigin, isIdAside } from "../../shared/uuid.ts";
import { RecordError } from "../records/errors.ts";
import type { FileRemoval, FileVersion } from "../records/file-record.ts";
import type { RecordOf } from "../records/schemas.ts";
import type { KnownRow } from "./lookup.ts";
import type { Lookups } from "./lookups.ts";
import { addRelease, type BatchPlan, resolveByKey } from "./plan.ts";
import { chunksToStore, isToBeEmbedded, requireEmbedder } from "./plan-embedding.ts";
import { projectId } from "./plan-identity.ts";
import { stageWorkingSet } from "./staging.ts";
import { arrayLiteral, documentColumns } from "./statements.ts";
import { embeddingsHash } from "./version-contents.ts";

export function planEnvironment(
  record: RecordOf<"environment">,
  plan: BatchPlan,
  where: string,
): void {
  const { lookups, rows, activeReleases } = plan;
  const project = projectId(plan, record.project);
  const environment = resolveByKey(lookups.environments, "environment", {
    id: record.id,
    parent: project,
    key: record.name,
  });
  rows.putRow("environments", environment, {
    project_id: project,
    name: record.name,
    protected: record.protected?.toString(),
    domains: record.domains && arrayLiteral(record.domains),
    ...documentColumns({ environment_variables: record.environment_variables }),
    server_hostname: record.server_hostname,
  });
  if (record.active_release !== undefined) {
    activeReleases.push({
      where,
      record: rows.record,
      projectId: project,
      environmentId: environment.id,
      release: record.active_release,
    });
  }
}

export function planRelease(record: RecordOf<"release">, plan: BatchPlan): void {
  const { lookups, rows } = plan;
  const project = projectId(plan, record.project);
  const environment =
    record.environment === undefined
      ? undefined
      : environmentId(plan, project, record.environment, "environment");
  const reference = { id: record.id, parent: project, key: record.name };
  const release = resolveByKey(lookups.releases, "release", reference);
  rows.putRow("releases", release, {
    project_id: project,
    name: record.name,
    export_status: record.export_status,
    build_status: record.build_status,
    deploy_status: record.deploy_status,
  });
  if (isFrozen(release)) return;
  addRelease(plan.releases, release.id, record.environment);
  if (environment !== undefined) {
    plan.afterRows.push((sql: Queryable) => stageWorkingSet(sql, environment, release.id));
  }
}

export function planFile(record: FileVersion, plan: BatchPlan): void {
  const { lookups, rows } = plan;
  const project = projectId(plan, record.project);
  const embedder = lookups.projects.byId(project)?.extra ?? null;
  requireEmbedder(record, embedder, plan);
  lookups.releases.require(
    ...record.releases.flatMap((name) => [
      { parent: project, key: name },
      { id: derivedId("release", project, name) },
    ]),
  );
  const environments = environmentIds(record, project, plan);
  const file = findFile(record, project, plan);
  const version = findVersion(record, file, plan);
  const releases = releasesToFill(record, project, file.id, version.id, plan);

  // The record is valid: the checks are above, the rows are added below.
  if (file.isNew) {
    rows.putRow("files", file, { project_id: project, path: record.path });
  }
  const owner = { project_id: project, file_id: file.id, file_version_id: version.id };
  if (version.isNew) addVersion(record, version, owner, embedder, plan);
  if (version.isNew && environments.length + releases.length > 0) {
    plan.newVersions.push({ projectId: project, id: version.id });
  }
  for (const id of environments) {
    const row = { scope_id: id, ...owner, is_release: "false", removed: "false" };
    rows.put("import_scopes", id + file.id, true, row);
  }
  for (const release of releases) {
    addRelease(plan.releases, release.id);
    const row = { scope_id: release.id, ...owner, is_release: "true", removed: "false" };
    rows.put("import_scopes", release.id + file.id, true, row);
    lookups.releaseFiles.plan({ id: version.id, parent: release.id, key: file.id });
  }
}

/** A file that the project does not have is in no working set, so nothing is to be done. */
export function planRemoval(record: FileRemoval, plan: BatchPlan): void {
  const { lookups, rows } = plan;
  const project = projectId(plan, record.project);
  const environments = environmentIds(record, project, plan);
  const file = lookups.files.byKey(project, record.path);
  if (file === undefined) return;
  for (const id of environments) {
    const row = { scope_id: id, file_id: file.id, project_id: project, is_release: "false" };
    rows.put("import_scopes", id + file.id, true, { ...row, removed: "true" });
  }
}

/** The ids of a record's environments, which are looked up at once. */
function environmentIds(
  { environments }: FileVersion | FileRemoval,
  project: string,
  plan: BatchPlan,
): string[] {
  plan.lookups.environments.require(...environments.map((key) => ({ parent: project, key })));
  return environments.map((name, i) => environmentId(plan, project, name, `environments[${i}]`));
}

function environmentId(
  { lookups }: BatchPlan,
  project: string,
  name: string,
  field: string,
): string {
  const environment = lookups.environments.byKey(project, name);
  if (environment === undefined) {
    throw new RecordError(`${field}: the project has no environment "${abbreviate(name)}"`);
  }
  return environment.id;
}

function findFile(record: FileVersion, project: string, { lookups }: BatchPlan): KnownRow {
  return resolveByKey(lookups.files, "file", { id: record.id, parent: project, key: record.path });
}

/**
 * Finds or plans the version of a file with the contents of the record. A key that is a hash of the contents gets
 * a number when it names a version with others, which a client has made.
 */
export function findVersion(record: FileVersion, file: KnownRow, { lookups }: BatchPlan): KnownRow {
  const { versionKey } = record;
  for (let number = 1; ; number++) {
    const key = number === 1 ? versionKey : `${versionKey}:${number}`;
    const version = versionWithKey(record, key, file, lookups);
    if (version !== undefined) return version;
  }
}

/**
 * A version's id is derived from its fingerprint, so a reused key with other embeddings is detected. Undefined if
 * the key is a hash and names a version with other contents.
 */
function versionWithKey(
  record: FileVersion,
  key: string,
  file: KnownRow,
  { versions, contents }: Lookups,
): KnownRow | undefined {
  const { versionId: given } = record;
  const content = ["file_version", file.id, `${key}\n${record.fingerprint}`] satisfies IdOrigin;
  const id = given ?? derivedId(...content);
  versions.require({ id }, { parent: file.id, key });
  const known = versions.byKey(file.id, key);
  if (known !== undefined) {
    const isEqual = record.isStored === true || contents.are(known.id, record);
    const isSame = known.id === id || (given === undefined && isIdAside(known.id, ...content));
    if (isEqual && (isSame || record.keyIsContentHash)) return known;
    if (record.keyIsContentHash) return undefined;
    throw new RecordError("version_key: already names a version of this file with other contents");
  }
  const isTaken = versions.byId(id) !== undefined;
  if (isTaken && given !== undefined) {
    throw new RecordError("version_id: belongs to another version");
  }
  const version: KnownRow = {
    ...{ id: isTaken ? versions.idAside(...content) : id, parent: file.id, key, isNew: true },
  };
  versions.plan(version);
  contents.plan(version.id, record);
  return version;
}

/** The releases that this version is added to. Those that already contain it are omitted. */
function releasesToFill(
  record: FileVersion,
  project: string,
  fileId: string,
  versionId: string,
  plan: BatchPlan,
): KnownRow[] {
  const { releases, releaseFiles } = plan.lookups;
  const known = record.releases.map((name) => releases.byKey(project, name));
  releaseFiles.require(
    ...known
      .filter((release) => release !== undefined && !release.isNew)
      .map((release) => ({ parent: (release as KnownRow).id, key: fileId })),
  );
  const missing: KnownRow[] = [];
  record.releases.forEach((name, i) => {
    const release = known[i];
    const current = release && versionInRelease(release, fileId, plan);
    if (current === versionId) return;
    if (release && isFrozen(release)) {
      const contents =
        current === undefined ? "without this path" : "with another version of this path";
      throw new RecordError(`releases[${i}]: "${abbreviate(name)}" is frozen ${contents}`);
    }
    if (current !== undefined) {
      throw new RecordError(
        `releases[${i}]: "${abbreviate(name)}" already contains another version of this path`,
      );
    }
    if (release !== undefined) missing.push(release);
  });
  return missing.concat(createReleases(record, project, plan));
}

function versionInRelease(
  release: KnownRow,
  fileId: string,
  { lookups }: BatchPlan,
): string | undefined {
  // A new release contains only what this batch adds to it.
  if (release.isNew) return lookups.releaseFiles.planned(release.id, fileId)?.id;
  return lookups.releaseFiles.byKey(release.id, fileId)?.id;
}

function createReleases(
  record: FileVersion,
  project: string,
  { lookups, rows }: BatchPlan,
): KnownRow[] {
  const created: KnownRow[] = [];
  for (const name of new Set(record.releases)) {
    if (lookups.releases.byKey(project, name) !== undefined) continue;
    const release = resolveByKey(lookups.releases, "release", { parent: project, key: name });
    rows.putRow("releases", release, { project_id: project, name });
    created.push(release);
  }
  return created;
}

function isFrozen(release: KnownRow): boolean {
  return release.extra === "frozen";
}

function addVersion(
  record: FileVersion,
  { key }: KnownRow,
  owner: { project_id: string; file_id: string; file_version_id: string },
  embedder: string | null,
  { rows, target }: BatchPlan,
): void {
  const version = owner.file_version_id;
  const chunks = chunksToStore(record, embedder);
  rows.put("file_versions", version, true, {
    id: version,
    project_id: owner.project_id,
    file_id: owner.file_id,
    version_key: key,
    content: record.content,
    title: record.title ?? fileTitle(record.path, record.content),
    chunk_count: String(chunks.length),
    given_embeddings: target === undefined ? null : embeddingsHash(record),
  });
  if (isToBeEmbedded(record, chunks)) {
    // The database keeps it only if the project has an embedder, whatever is known of that here.
    const waiting = { file_version_id: version, project_id: owner.project_id };
    rows.put("embedding_queue", version, true, waiting);
  }
  for (const chunk of chunks) {
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
      metadata: chunk.writtenMetadata ?? chunk.metadata,
      dimension: chunk.dimension === null ? null : String(chunk.dimension),
      embedder: chunk.embedding === null ? null : embedder,
      embedding: chunk.embedding,
    });
  }
}
