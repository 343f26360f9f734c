import { RecordError } from "../../../documents/errors.ts";
import { abbreviate } from "../../../domain/abbreviate.ts";
import { hasDimension } from "../../../embed/embedders/project-embedders.ts";
import type { FileVersion } from "../records/file-record.ts";
import type { RecordOf } from "../records/schemas.ts";
import { announceVersions, type NewVersion } from "./announce.ts";
import type { Batch, Fingerprints, Line } from "./batch.ts";
import { idOf, type KnownRow, type KnownRows, resolveByKey } from "./known-rows.ts";
import { RowSet, type Values } from "./row-set.ts";
import { addRelease, readReleaseFiles, stageFiles, stageWorkingSet } from "./scopes.ts";
import { type AcceptedVersion, putVersions, type VersionToPut } from "./versions.ts";

export async function putEnvironments(batch: Batch): Promise<void> {
  const { environments: rows, activeReleases } = batch;
  const writing = { kind: "environment", rows, table: "environments" } as const;
  await batch.put(writing, (record, { line, where }) => {
    const project = batch.projectId(record.project, line);
    return {
      id: record.id,
      parent: project,
      name: { key: record.name },
      fields({ id }) {
        const { active_release: release } = record;
        if (release !== undefined) {
          activeReleases.push({
            where,
            record: line,
            projectId: project,
            environmentId: id,
            release,
          });
        }
        return { ...record, project_id: project };
      },
    };
  });
}

function environmentIdOf(
  { environments }: Batch,
  project: string,
  { name, field, line }: { name: string; field: string; line: number },
): string {
  const environment = environments.byKey(project, name, line);
  if (environment !== undefined) return environment.id;
  throw new RecordError(`${field}: the project has no environment "${abbreviate(name)}"`);
}

/** Throws unless the embeddings are comparable with those of the project. */
function requireEmbedder(record: FileVersion, own: string | null, embedders: Fingerprints): void {
  if (own === null) return;
  const other = record.chunks.find(
    ({ dimension }) => dimension !== null && !hasDimension(own, dimension),
  );
  const given = record.embedder;
  const named = given !== undefined && Object.hasOwn(embedders, given) ? embedders[given] : given;
  const isOther = named !== undefined && named !== own;
  if (!isOther && other === undefined) return;
  if (record.chunks.every(({ dimension }) => dimension === null)) return;
  const by = named ?? `another one, of ${other?.dimension} dimensions`;
  throw new RecordError(`embedder: that of the project is ${own}, and the embeddings are by ${by}`);
}

interface FileLine extends Line<"file"> {
  readonly toPut: VersionToPut;
  readonly environments: readonly string[];
}

/** The change of a scope by a record. */
interface ScopeChange {
  readonly line: number;
  readonly scope: string;
  readonly file: string;
  readonly values: Values;
}

const isFrozen = (release: KnownRow) => release.extra === "frozen";

/** The releases and files of a batch, and their changes of scopes. */
export class FileBatch {
  readonly #releases: KnownRows;
  readonly #releaseRows = new RowSet();
  /** The release records that are not resolved yet. */
  readonly #waiting: Line<"release">[];
  /** Ids of versions by releases and paths. */
  #held = new Map<string, string>();
  readonly #changes: ScopeChange[] = [];
  readonly #new = new Set<string>();
  readonly #announced = new Map<string, NewVersion>();
  /** The working set that a release is made from. */
  #source: { readonly environmentId: string; readonly releaseId: string } | undefined;

  constructor(private readonly batch: Batch) {
    this.#releases = batch.known({
      table: "releases",
      parent: "project_id",
      key: "t.name",
      extra: "CASE WHEN t.frozen_at IS NOT NULL THEN 'frozen' END",
    });
    this.#waiting = batch.of("release");
  }

  /** Stores the files and releases, and stages the changes of scopes. */
  async put(): Promise<void> {
    const { batch } = this;
    const { sql, firstRecord } = batch.context;
    await this.#loadNames();
    const lines = batch
      .of("file")
      .flatMap((line) => batch.attempt(line.line, () => this.#lineOf(line)) ?? []);
    await this.#loadReleases(lines);
    const results = await putVersions(
      batch.context,
      lines.map(({ toPut }) => toPut),
      (put, i) => this.#accept(put, lines[i] as FileLine),
    );
    for (const [i, result] of results.entries()) {
      const { line } = lines[i] as FileLine;
      if (result instanceof RecordError) batch.reject(line, result);
      else if (result.isNew) batch.count([{ lines: [line] }], result.rows);
    }
    this.#resolveReleases(Number.POSITIVE_INFINITY);
    await this.#remove();
    batch.count(await this.#releaseRows.write(batch.context, "releases"));
    const staged = new RowSet();
    for (const { line, scope, file, values } of this.#changes.sort((a, b) => a.line - b.line)) {
      staged.put(scope + file, true, { scope_id: scope, file_id: file, ...values }, line);
    }
    await stageFiles(batch.context, staged, (line) =>
      batch.changed.has(line) ? null : firstRecord + line,
    );
    if (this.#source !== undefined) await stageWorkingSet(sql, this.#source);
    batch.newVersions += this.#announced.size;
    await announceVersions(sql, [...this.#announced.values()]);
  }

  /** Looks up the environments that records name. */
  async #loadNames(): Promise<void> {
    const { batch } = this;
    const named = [...batch.of("file"), ...batch.of("removed_file"), ...batch.of("release")];
    const keys = named.flatMap(({ line, record }) => {
      const parent = batch.attempt(line, () => batch.projectId(record.project, line));
      if (parent === undefined) return [];
      const names =
        "environments" in record ? record.environments : [record.environment ?? []].flat();
      return names.map((key) => ({ parent, key }));
    });
    await batch.environments.load([], keys);
  }

  /** Looks up the releases of the batch, and which versions of its files they have. */
  async #loadReleases(lines: readonly FileLine[]): Promise<void> {
    const ofFiles = lines.flatMap(({ toPut: { projectId: parent }, record }) =>
      record.releases.map((key) => ({ parent, key })),
    );
    const own = this.#waiting.flatMap(({ line, record: { id, project, name: key } }) => {
      const parent = this.batch.attempt(line, () => this.batch.projectId(project, line));
      return parent === undefined ? [] : [{ id, parent, key }];
    });
    const references = [...ofFiles, ...own];
    if (references.length === 0) return;
    await this.#releases.load(
      references.map((reference) => idOf("release", reference)),
      references,
    );
    const stored = ofFiles.flatMap(
      ({ parent, key }) => this.#releases.byKey(parent, key)?.id ?? [],
    );
    const paths = lines.flatMap(({ record: { path, releases } }) => (releases[0] ? [path] : []));
    this.#held = await readReleaseFiles(this.batch.context.sql, [...new Set(stored)], paths);
  }

  /** A file with its project and environments. Throws a RecordError. */
  #lineOf(each: Line<"file">): FileLine {
    const { batch } = this;
    const { embedders, target } = batch.context;
    const { record, line } = each;
    const { id: projectId, extra: embedder = null } = batch.project(record.project, line);
    requireEmbedder(record, embedder, embedders);
    const environments = environmentIds(batch, projectId, record.environments, line);
    const toPut = { projectId, embedder, isByClient: target !== undefined, record };
    return { ...each, toPut, environments };
  }

  /** Adds a version to the scopes of its record. Throws a RecordError if they cannot have it. */
  #accept(put: AcceptedVersion, each: FileLine): void {
    const { record, line, environments, toPut } = each;
    const { projectId } = toPut;
    this.#resolveReleases(line);
    const releases: KnownRow[] = [];
    for (const [i, name] of record.releases.entries()) {
      const release = this.#releases.byKey(projectId, name);
      if (release === undefined) continue;
      const current = this.#held.get(release.id + record.path);
      if (current === put.versionId) continue;
      const quoted = `releases[${i}]: "${abbreviate(name)}"`;
      if (isFrozen(release)) {
        const other =
          current === undefined ? "without this path" : "with another version of this path";
        throw new RecordError(`${quoted} is frozen ${other}`);
      }
      if (current !== undefined) {
        throw new RecordError(`${quoted} already contains another version of this path`);
      }
      releases.push(release);
    }
    for (const key of new Set(record.releases)) {
      if (this.#releases.byKey(projectId, key) !== undefined) continue;
      const release = this.#releases.add(
        resolveByKey(this.#releases, "release", { parent: projectId, key }, line),
      );
      const row = { id: release.id, project_id: projectId, name: key };
      this.#releaseRows.put(release.id, true, row, line);
      releases.push(release);
    }
    if (put.isNew) this.#new.add(put.versionId);
    if (this.#new.has(put.versionId) && environments.length + releases.length > 0) {
      this.#announced.set(put.versionId, { projectId, id: put.versionId });
    }
    const values = { project_id: projectId, file_version_id: put.versionId, removed: "false" };
    const change = (scope: string, is_release: string) =>
      this.#changes.push({ line, scope, file: put.fileId, values: { ...values, is_release } });
    for (const id of environments) change(id, "false");
    for (const { id } of releases) {
      addRelease(this.batch.releases, id);
      this.#held.set(id + record.path, put.versionId);
      change(id, "true");
    }
  }

  /** Resolves the release records before a line: files after them find their releases. */
  #resolveReleases(before: number): void {
    while (this.#waiting[0] !== undefined && this.#waiting[0].line < before) {
      const { line, record } = this.#waiting.shift() as Line<"release">;
      this.batch.attempt(line, () => this.#resolveRelease(record, line));
    }
  }

  #resolveRelease(record: RecordOf<"release">, line: number): void {
    const { batch } = this;
    const { id, name: key, environment } = record;
    const parent = batch.projectId(record.project, line);
    const environmentId =
      environment &&
      environmentIdOf(batch, parent, { name: environment, field: "environment", line });
    const release = this.#releases.add(
      resolveByKey(this.#releases, "release", { id, parent, key }, line),
    );
    const row = { ...record, id: release.id, project_id: parent };
    this.#releaseRows.put(release.id, release.isNew === true, row, line);
    if (isFrozen(release)) return;
    addRelease(batch.releases, release.id, environment);
    if (environmentId) this.#source = { environmentId, releaseId: release.id };
  }

  /** Takes files out of environments. A file that the project does not have is in no working set. */
  async #remove(): Promise<void> {
    const { batch } = this;
    const removals = batch.of("removed_file").flatMap(({ line, record }) => {
      const found = batch.attempt(line, () => {
        const parent = batch.projectId(record.project, line);
        return { parent, environments: environmentIds(batch, parent, record.environments, line) };
      });
      return found === undefined ? [] : [{ line, ...found, key: record.path }];
    });
    const files = batch.known({ table: "files", parent: "project_id", key: "t.path" });
    await files.load([], removals);
    for (const { line, parent, key, environments } of removals) {
      const file = files.byKey(parent, key)?.id;
      const values = { project_id: parent, is_release: "false", removed: "true" };
      if (file === undefined) continue;
      for (const scope of environments) this.#changes.push({ line, scope, file, values });
    }
  }
}

function environmentIds(
  batch: Batch,
  project: string,
  names: readonly string[],
  line: number,
): string[] {
  return names.map((name, i) =>
    environmentIdOf(batch, project, { name, field: `environments[${i}]`, line }),
  );
}
