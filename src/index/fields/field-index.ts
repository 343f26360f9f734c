import type { Part, PartReader, PartWriter } from "../snapshots/parts.ts";
import { OpenProjects } from "../versions/open-projects.ts";
import type {
  IndexPart,
  MaintenanceState,
  VersionIndex,
  VersionReader,
} from "../versions/version-index.ts";
import type { Renumbering, VersionTable } from "../versions/version-table.ts";
import { FieldProject } from "./field-project.ts";
import { readFieldSnapshot, writeFieldSnapshot } from "./field-snapshot.ts";
import { fieldsOf } from "./version-fields.ts";

/**
 * The index of the fields that filters compare. It belongs to the indexing thread. It gives the versions their numbers,
 * so they are added here before they are added to other indexes, and its snapshot has the table.
 */
export class FieldIndex implements VersionIndex {
  readonly name = "fields";
  readonly #projects = new OpenProjects<FieldProject>();

  openProject(projectId: string, table: VersionTable): void {
    if (!this.#projects.has(projectId)) this.#projects.set(projectId, new FieldProject(table));
  }

  dropProject(projectId: string): void {
    this.#projects.delete(projectId);
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

  renumber(projectId: string, { kept }: Renumbering): void {
    this.#projects.opened(projectId).keep(kept);
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
    this.#projects.set(projectId, project);
  }

  /** Fields are no entries of their own: those of the texts and the vectors are counted. */
  stats(projectId: string): readonly IndexPart[] {
    const bytes = this.find(projectId)?.bytes;
    if (bytes === undefined) return [];
    return [{ dimension: 0, entries: 0, maintained: 0, settled: true, bytes }];
  }
}
