import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  buildSegment,
  mergeSegments,
  nextDocument,
  SegmentReader,
} from "../../../../src/index/segments/index.ts";
import { TextProject } from "../../../../src/index/text/text-project.ts";
import { VersionTable } from "../../../../src/index/versions/version-table.ts";
import { addTo, setScope } from "../tables.ts";

interface Merging {
  /** Replaces the merged segments. */
  finish(): void;
}

/** Merges what is due, as another thread does, without changing the project yet. */
function merging(project: TextProject): Merging | null {
  const merge = project.beginMerge();
  if (merge === null) return null;
  const inputs = merge.parts.map(({ segment }, i) => ({
    buffer: segment.buffer,
    keep: merge.keep[i] ?? null,
  }));
  const result = mergeSegments(inputs);
  return { finish: () => project.finishMerge(merge, result) };
}

function mergeAll(project: TextProject): void {
  for (let merge = merging(project); merge !== null; merge = merging(project)) merge.finish();
}

/** Adds documents as one segment. */
function add(project: TextProject, ids: readonly string[]): void {
  addTo(project.table, ids);
  const documents = ids.map((id) => ({
    id,
    path: `${id}.md`,
    title: id,
    headings: [],
    frontmatter: [],
    content: `words of ${id}`,
  }));
  project.addSegment(crypto.randomUUID(), new SegmentReader(buildSegment(documents)));
}

function idsIn(project: TextProject, scopeId: string): string[] {
  const ids: string[] = [];
  for (const [key, words] of project.scopes.get(scopeId) ?? []) {
    const segment = project.segments.get(key)?.segment;
    if (segment === undefined) throw new Error("a scope refers to a segment that was removed");
    const end = segment.documentCount;
    for (let d = nextDocument(words, 0, end); d < end; d = nextDocument(words, d + 1, end)) {
      ids.push(segment.id(d));
    }
  }
  return ids.sort();
}

/** Removes a scope from the project and its table. */
function dropScope(project: TextProject, scopeId: string): void {
  project.table.dropScope(scopeId);
  project.dropScope(scopeId);
}

/** Forgets the versions that no scope holds, if they are many. */
function forget(project: TextProject): void {
  const renumbering = project.table.forgetUnheld();
  if (renumbering !== undefined) project.renumber((number) => renumbering.numbers[number] ?? 0);
}

describe("merging the segments of a project", () => {
  const change = fc.record({
    kind: fc.constantFrom("set", "drop", "begin", "finish", "forget"),
    scope: fc.constantFrom("x", "y", "z"),
    ids: fc.uniqueArray(fc.nat(30), { maxLength: 20 }),
  });

  test("a merge keeps every scope intact while scopes change", () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 60 }), (changes) => {
        const project = new TextProject(new VersionTable());
        const expected = new Map<string, string[]>();
        let merge: Merging | null = null;
        const check = () => {
          for (const [scope, ids] of expected) expect(idsIn(project, scope)).toEqual(ids);
        };
        for (const { kind, scope, ids } of changes) {
          if (kind === "forget") forget(project);
          if (kind === "begin") merge ??= merging(project);
          if (kind === "finish") {
            merge?.finish();
            merge = null;
          }
          if (kind === "drop") {
            dropScope(project, scope);
            expected.delete(scope);
          }
          if (kind === "set") {
            const names = ids.map((id) => `d${id}`).sort();
            // Small segments, so that a merge is soon due.
            for (const id of names) if (!project.table.knows(id)) add(project, [id]);
            setScope(project.table, project, scope, names);
            expected.set(scope, names);
          }
          check();
        }
        merge?.finish();
        mergeAll(project);
        check();
      }),
      { numRuns: 200 },
    );
  });

  test("a merge changes nothing before it is finished, and drops what no scope holds", () => {
    const project = new TextProject(new VersionTable());
    const ids = Array.from({ length: 16 }, (_, i) => `d${String(i).padStart(2, "0")}`);
    for (const id of ids) add(project, [id]);
    setScope(project.table, project, "s", ids);
    setScope(project.table, project, "s", ids.slice(8));
    forget(project);
    expect(ids.filter((id) => project.table.knows(id))).toEqual(ids.slice(8));
    const merge = merging(project);
    expect(project.segments.size).toBe(16);
    merge?.finish();
    mergeAll(project);
    expect(idsIn(project, "s")).toEqual(ids.slice(8));
    const documents = [...project.segments.values()].map(({ segment }) => segment.documentCount);
    expect(documents).toEqual([8]);
  });

  test("a merge keeps documents that were added and are not in a scope yet", () => {
    const project = new TextProject(new VersionTable());
    const ids = Array.from({ length: 64 }, (_, i) => `d${String(i).padStart(2, "0")}`);
    for (const id of ids) {
      add(project, [id]);
      forget(project);
      mergeAll(project);
    }
    setScope(project.table, project, "s", ids);
    expect(idsIn(project, "s")).toEqual(ids);
  });

  test("a version that was forgotten during a merge, and is added again, is found once", () => {
    const project = new TextProject(new VersionTable());
    const ids = Array.from({ length: 8 }, (_, i) => `d${i}`);
    for (const id of ids) add(project, [id]);
    setScope(project.table, project, "s", ids);
    const merge = merging(project);
    setScope(project.table, project, "s", ids.slice(5));
    forget(project);
    add(project, ids.slice(0, 5));
    setScope(project.table, project, "s", ids);
    expect(idsIn(project, "s")).toEqual(ids);
    merge?.finish();
    expect(idsIn(project, "s")).toEqual(ids);
    mergeAll(project);
    expect(idsIn(project, "s")).toEqual(ids);
  });

  test("a version that was added twice at the same time is found once", () => {
    const project = new TextProject(new VersionTable());
    add(project, ["d0"]);
    const [part] = project.segments.values();
    project.addSegment("again", part?.segment as SegmentReader);
    setScope(project.table, project, "s", ["d0"]);
    expect(idsIn(project, "s")).toEqual(["d0"]);
  });
});
