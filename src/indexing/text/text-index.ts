import { parseMarkdown } from "../../markdown/index.ts";
import { step } from "../../observability/long-tasks.ts";
import { INDEX_SETTLE_SLICE_MS, TEXT_BUILD_CHARS } from "../../shared/limits.ts";
import {
  buildSegment,
  type KnowledgeDocument,
  openSegment,
  type SharedSegment,
  type TextMessage,
} from "../../text/index.ts";
import type {
  DocumentRow,
  IndexPart,
  VersionIndex,
  VersionReader,
} from "../versions/version-index.ts";
import { TextProject, type TextSegment } from "./text-project.ts";
import { readTextSnapshot, writeTextSnapshot } from "./text-snapshot.ts";

const KNOWLEDGE_PATH = /\.mdx?$/i;

function documentOf(row: DocumentRow): KnowledgeDocument | null {
  if (row.content === null || !KNOWLEDGE_PATH.test(row.path)) return null;
  const { title, headings, frontmatter, content } = parseMarkdown(row.path, row.content);
  return { id: row.file_version_id, path: row.path, title, headings, frontmatter, content };
}

function shared({ key, segment }: TextSegment): SharedSegment {
  return { key, buffer: segment.buffer as SharedArrayBuffer };
}

/**
 * The index behind knowledge lookup. It lives in the indexing thread; the main thread is told of
 * every new segment and scope, and lends them to the workers. Both stand in shared memory.
 */
export class TextIndex implements VersionIndex {
  readonly name = "text";
  readonly #projects = new Map<string, TextProject>();

  constructor(private readonly publish: (message: TextMessage) => void) {}

  openProject(projectId: string): void {
    if (!this.#projects.has(projectId)) this.#projects.set(projectId, new TextProject());
  }

  dropProject(projectId: string): void {
    if (this.#projects.delete(projectId)) this.publish({ type: "project-dropped", projectId });
  }

  knows(projectId: string, versionId: string): boolean {
    return this.#projects.get(projectId)?.knows(versionId) ?? false;
  }

  async add(
    projectId: string,
    versionIds: readonly string[],
    reader: VersionReader,
  ): Promise<void> {
    const project = this.#project(projectId);
    const plain = new Set(versionIds);
    let documents: KnowledgeDocument[] = [];
    let chars = 0;
    const build = () => {
      if (documents.length === 0) return;
      this.#take(projectId, project, buildSegment(documents));
      documents = [];
      chars = 0;
    };
    for await (const rows of reader.documents(versionIds)) {
      for (const row of rows) {
        const document = step("parse a document", () => documentOf(row));
        if (document === null) continue;
        plain.delete(document.id);
        documents.push(document);
        chars += document.content.length;
        if (chars < TEXT_BUILD_CHARS) continue;
        step("build a segment", build);
        // Others may have their turn between one segment and the next.
        await Bun.sleep(0);
      }
    }
    step("build a segment", build);
    // The copy of the id keeps the long string that it was cut out of from staying in memory.
    project.addPlain([...plain].map((id) => Buffer.from(id).toString()));
  }

  setScope(projectId: string, scopeId: string, versionIds: readonly string[]): void {
    const project = this.#project(projectId);
    project.setScope(scopeId, versionIds);
    this.#publishScope(projectId, project, scopeId);
  }

  dropScope(projectId: string, scopeId: string): void {
    this.#projects.get(projectId)?.dropScope(scopeId);
    this.publish({ type: "scope-dropped", projectId, scopeId });
  }

  hasScope(projectId: string, scopeId: string): boolean {
    return this.#projects.get(projectId)?.scopes.has(scopeId) ?? false;
  }

  settle(projectId: string): boolean {
    const project = this.#projects.get(projectId);
    if (project === undefined) return false;
    const joined = step("join segments", () => project.settle(INDEX_SETTLE_SLICE_MS));
    if (joined !== null) {
      const { added, removed, scopeIds } = joined;
      this.publish({
        type: "segments",
        projectId,
        add: added === null ? [] : [shared(added)],
        remove: removed,
        scopes: scopeIds.map((scopeId) => ({ scopeId, members: project.members(scopeId) })),
      });
    }
    return project.unsettled;
  }

  snapshot(projectId: string, directory: string): Promise<void> {
    return writeTextSnapshot(this.#project(projectId), directory);
  }

  async restore(projectId: string, directory: string): Promise<boolean> {
    const project = await readTextSnapshot(directory);
    if (project === null) return false;
    this.#projects.set(projectId, project);
    const scopeIds = [...project.scopes.keys()];
    this.publish({
      type: "segments",
      projectId,
      add: [...project.segments.values()].map(shared),
      remove: [],
      scopes: scopeIds.map((scopeId) => ({ scopeId, members: project.members(scopeId) })),
    });
    return true;
  }

  stats(projectId: string): readonly IndexPart[] {
    const project = this.#projects.get(projectId);
    if (project === undefined) return [];
    let entries = 0;
    let bytes = 0;
    for (const { segment } of project.segments.values()) {
      entries += segment.documentCount;
      bytes += segment.buffer.byteLength;
    }
    return [{ dimension: 0, entries, settled: entries, bytes }];
  }

  #take(projectId: string, project: TextProject, buffer: SharedArrayBuffer): void {
    const key = crypto.randomUUID();
    project.grow(key, openSegment(buffer, false));
    this.publish({ type: "segments", projectId, add: [{ key, buffer }], remove: [], scopes: [] });
  }

  #publishScope(projectId: string, project: TextProject, scopeId: string): void {
    this.publish({ type: "scope", projectId, scopeId, members: project.members(scopeId) });
  }

  #project(projectId: string): TextProject {
    const project = this.#projects.get(projectId);
    if (project === undefined) throw new Error("the project is not open");
    return project;
  }
}
