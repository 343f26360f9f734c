import type { DocumentSet } from "./document-set.ts";

/** A segment as threads exchange it: the buffer is shared, not copied. */
export interface SharedSegment {
  /** Unique across restarts. The same key always means the same bytes. */
  readonly key: string;
  readonly buffer: SharedArrayBuffer;
}

/** The documents of one segment that are in a scope, as a `DocumentSet` in shared memory. */
export interface SegmentScope {
  readonly key: string;
  readonly documents: Uint32Array;
}

interface ScopeMembers {
  readonly scopeId: string;
  readonly members: readonly SegmentScope[];
}

/** A message from the text index to the main thread. Messages arrive in the order of the changes. */
export type TextMessage =
  | {
      readonly type: "segments";
      readonly projectId: string;
      readonly add: readonly SharedSegment[];
      readonly remove: readonly string[];
      /** The scopes whose segments change. */
      readonly scopes: readonly ScopeMembers[];
    }
  | ({ readonly type: "scope"; readonly projectId: string } & ScopeMembers)
  | { readonly type: "scope-dropped"; readonly projectId: string; readonly scopeId: string }
  | { readonly type: "project-dropped"; readonly projectId: string };

/** An environment or release at one point in time, in a form that can be sent to a worker. */
export interface SharedView {
  /** The id of the view. Data derived from a view can be cached under it. */
  readonly number: number;
  readonly segments: readonly SharedSegment[];
  /** Same length and order as `segments`. */
  readonly documentSets: readonly DocumentSet[];
}

/** All views of the process share one sequence, because a thread may receive views of several stores. */
let lastNumber = 0;

/** A view of segments and, for each, the documents in scope. */
export function newView(
  segments: readonly SharedSegment[],
  documentSets: readonly DocumentSet[],
): SharedView {
  return { number: ++lastNumber, segments, documentSets };
}

interface Project {
  readonly segments: Map<string, SharedSegment>;
  readonly views: Map<string, SharedView>;
}

/** The newest view of every loaded scope. Views are immutable: a change replaces the view. */
export class ViewStore {
  readonly #projects = new Map<string, Project>();

  /** Undefined if the scope is not loaded. */
  view(projectId: string, scopeId: string): SharedView | undefined {
    return this.#projects.get(projectId)?.views.get(scopeId);
  }

  receive(message: TextMessage): void {
    if (message.type === "project-dropped") {
      this.#projects.delete(message.projectId);
      return;
    }
    const project = this.#project(message.projectId);
    if (message.type === "segments") {
      for (const segment of message.add) project.segments.set(segment.key, segment);
      for (const scope of message.scopes) this.#replace(project, scope);
      for (const key of message.remove) project.segments.delete(key);
    } else if (message.type === "scope") {
      this.#replace(project, message);
    } else {
      project.views.delete(message.scopeId);
    }
  }

  /** Drops all views, when the indexing thread has ended. */
  clear(): void {
    this.#projects.clear();
  }

  #replace(project: Project, { scopeId, members }: ScopeMembers): void {
    project.views.set(scopeId, this.#assemble(project, members));
  }

  #assemble(project: Project, members: readonly SegmentScope[]): SharedView {
    const known = members.flatMap((member) => {
      const segment = project.segments.get(member.key);
      return segment === undefined ? [] : [{ segment, documents: member.documents }];
    });
    return newView(
      known.map((entry) => entry.segment),
      known.map((entry) => entry.documents),
    );
  }

  #project(projectId: string): Project {
    let project = this.#projects.get(projectId);
    if (project === undefined) {
      project = { segments: new Map(), views: new Map() };
      this.#projects.set(projectId, project);
    }
    return project;
  }
}
