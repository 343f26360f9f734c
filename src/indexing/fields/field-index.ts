import { OpenProjects } from "../versions/open-projects.ts";
import type {
  IndexPart,
  MaintenanceState,
  Members,
  VersionIndex,
  VersionReader,
} from "../versions/version-index.ts";
import { FieldProject } from "./field-project.ts";
import { readFieldSnapshot, writeFieldSnapshot } from "./field-snapshot.ts";
import { numbersIn, setOf } from "./number-set.ts";
import { fieldsOf } from "./version-fields.ts";

/** The index of the fields that filters compare. It belongs to the indexing thread. */
export class FieldIndex implements VersionIndex {
  readonly name = "fields";
  readonly #projects = new OpenProjects<FieldProject>();

  openProject(projectId: string): void {
    if (!this.#projects.has(projectId)) this.#projects.set(projectId, new FieldProject());
  }

  dropProject(projectId: string): void {
    this.#projects.delete(projectId);
  }

  /** Undefined while the project is not open. */
  find(projectId: string): FieldProject | undefined {
    return this.#projects.get(projectId);
  }

  knows(projectId: string, versionId: string): boolean {
    return this.find(projectId)?.knows(versionId) ?? false;
  }

  /** Returns a function that tells whether a scope holds a version that is not outdated. */
  holds(projectId: string, scopeId: string): (versionId: string) => boolean {
    const project = this.find(projectId);
    const scope = project?.scopes.get(scopeId);
    if (project === undefined || scope === undefined) return () => false;
    return (versionId) => project.isIn(scope, versionId);
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

  readAgain(projectId: string, versionIds: readonly string[]): void {
    for (const id of versionIds) this.find(projectId)?.readAgain(id);
  }

  /** The numbers of versions; undefined if one is not known, or the project is not open. */
  numbered(projectId: string, versionIds: readonly string[]): Members | undefined {
    const versions = this.find(projectId);
    const set = versions?.numbersOf(versionIds);
    if (versions === undefined || set === undefined) return undefined;
    return { versions, numbers: numbersIn(set), chunks: null };
  }

  setScope(
    projectId: string,
    scopeId: string,
    versionIds: readonly string[],
    members?: Members,
  ): void {
    const project = this.#projects.opened(projectId);
    if (members === undefined) project.setScope(scopeId, versionIds);
    else project.scopes.set(scopeId, setOf(members.numbers, project.count));
  }

  dropScope(projectId: string, scopeId: string): void {
    this.find(projectId)?.scopes.delete(scopeId);
  }

  hasScope(projectId: string, scopeId: string): boolean {
    return this.find(projectId)?.scopes.has(scopeId) ?? false;
  }

  maintain(): MaintenanceState {
    return "done";
  }

  async snapshot(projectId: string, directory: string, seq: number): Promise<void> {
    const project = this.#projects.opened(projectId);
    project.forgetUnheld();
    await writeFieldSnapshot(project, directory, seq);
  }

  async restore(projectId: string, directory: string, seq: number): Promise<boolean> {
    const project = await readFieldSnapshot(directory, seq);
    if (project === null) return false;
    this.#projects.set(projectId, project);
    return true;
  }

  /** Fields are no entries of their own: those of the texts and the vectors are counted. */
  stats(projectId: string): readonly IndexPart[] {
    const bytes = this.find(projectId)?.bytes;
    if (bytes === undefined) return [];
    return [{ dimension: 0, entries: 0, maintained: 0, settled: true, bytes }];
  }
}
