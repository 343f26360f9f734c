import {
  moveVersions,
  sharedScopeBytes,
  shareFields,
  shareFilteredScope,
  unshareFields,
  unshareFilteredScope,
} from "../../../native/fields.ts";
import type { Part, PartReader, PartWriter } from "../snapshots/parts.ts";
import { OpenProjects } from "../versions/open-projects.ts";
import type {
  IndexPart,
  MaintenanceState,
  Members,
  VersionIndex,
  VersionReader,
} from "../versions/version-index.ts";
import type { Renumbering, VersionTable } from "../versions/version-table.ts";
import { FieldProject } from "./field-project.ts";
import { readFieldSnapshot, writeFieldSnapshot } from "./field-snapshot.ts";
import { fieldsOf } from "./version-fields.ts";

/** True for the id of a scope that a filter derives from another. */
const isFiltered = (scopeId: string) => scopeId.includes("#");

/**
 * The index of the fields that filters compare and facets count. It belongs to the indexing thread, which shares them
 * with the native calls of retrievals. It gives the versions their numbers, so they are added here before they are added
 * to other indexes, and its snapshot has the table.
 */
export class FieldIndex implements VersionIndex {
  readonly name = "fields";
  readonly #projects = new OpenProjects<FieldProject>();

  /** @param names those of projects in the native registry */
  constructor(private readonly names: { of(projectId: string): string }) {}

  openProject(projectId: string, table: VersionTable): void {
    if (!this.#projects.has(projectId)) this.#open(projectId, new FieldProject(table));
  }

  #open(projectId: string, project: FieldProject): void {
    this.#projects.set(projectId, project);
    shareFields(project.store, this.names.of(projectId));
  }

  dropProject(projectId: string): void {
    this.#projects.delete(projectId);
    unshareFields(this.names.of(projectId));
  }

  /** Undefined while the project is not open. */
  find(projectId: string): FieldProject | undefined {
    return this.#projects.get(projectId);
  }

  async add(
    projectId: string,
    versionIds: readonly string[],
    reader: VersionReader,
  ): Promise<void> {
    const project = this.#projects.opened(projectId);
    for await (const rows of reader.fields(versionIds)) {
      for (const row of rows) project.add(fieldsOf(row));
    }
  }

  /** Only filtered scopes have chunks of their own to count; the table has the others. */
  setScope(projectId: string, scopeId: string, { chunks }: Members): void {
    if (!isFiltered(scopeId)) return;
    const { store } = this.#projects.opened(projectId);
    shareFilteredScope(store, this.names.of(projectId), scopeId, chunks);
  }

  dropScope(projectId: string, scopeId: string): void {
    if (isFiltered(scopeId)) unshareFilteredScope(this.names.of(projectId), scopeId);
  }

  /** The chunks of filtered scopes have other numbers, too, so these are shared again when they are asked for. */
  moveNumbers(projectId: string, numbers: ReadonlyMap<number, number>): void {
    const { store } = this.#projects.opened(projectId);
    moveVersions(store, Uint32Array.from(numbers.values()));
    shareFields(store, this.names.of(projectId));
  }

  renumber(projectId: string, { kept }: Renumbering): void {
    const project = this.#projects.opened(projectId);
    project.keep(kept);
    shareFields(project.store, this.names.of(projectId));
  }

  maintain(): MaintenanceState {
    return "done";
  }

  snapshot(projectId: string, writer: PartWriter): Promise<readonly Part[]> {
    return writeFieldSnapshot(this.#projects.opened(projectId), writer);
  }

  async restore(projectId: string, table: VersionTable, reader: PartReader): Promise<void> {
    const project = new FieldProject(table);
    await readFieldSnapshot(project, reader);
    this.#open(projectId, project);
  }

  /** Fields are no entries of their own: those of the texts and the vectors are counted. */
  stats(projectId: string): readonly IndexPart[] {
    const own = this.find(projectId)?.bytes;
    if (own === undefined) return [];
    const bytes = own + sharedScopeBytes(this.names.of(projectId));
    return [{ dimension: 0, entries: 0, maintained: 0, settled: true, bytes }];
  }
}
