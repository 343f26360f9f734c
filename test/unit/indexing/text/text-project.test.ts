import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { TextProject } from "../../../../src/indexing/text/text-project.ts";
import type { Members } from "../../../../src/indexing/versions/version-index.ts";
import {
  buildSegment,
  hasDocument,
  mergeSegments,
  nextDocument,
  openSegment,
} from "../../../../src/text/index.ts";

interface Merging {
  /** Replaces the merged segments; null when the merge is outdated. */
  finish(): object | null;
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
  const documents = ids.map((id) => ({
    id,
    path: `${id}.md`,
    title: id,
    headings: [],
    frontmatter: [],
    content: `words of ${id}`,
  }));
  project.addSegment(crypto.randomUUID(), openSegment(buildSegment(documents)));
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

/** The versions `d0` and so on by their numbers. */
function numbered(ids: readonly number[]): Members {
  const versions = {
    ...{ numbering: 1, count: 31, idOf: (number: number) => `d${number}` },
    ...{
      firstChunks: Uint32Array.from({ length: 32 }, (_, i) => i),
      dimensions: new Uint32Array(31),
    },
  };
  return { versions, numbers: Uint32Array.from(ids).sort(), chunks: null };
}

/** Documents that the project considers held by no scope. */
function deletedIds(project: TextProject): string[] {
  return [...project.segments.values()].flatMap(({ segment, deleted }) =>
    Array.from({ length: segment.documentCount }, (_, d) => d)
      .filter((d) => hasDocument(deleted, d))
      .map((d) => segment.id(d)),
  );
}

describe("merging the segments of a project", () => {
  const change = fc.record({
    kind: fc.constantFrom("set", "drop", "begin", "finish"),
    scope: fc.constantFrom("x", "y", "z"),
    ids: fc.uniqueArray(fc.nat(30), { maxLength: 20 }),
  });

  test("a merge keeps every scope intact while scopes change", () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 60 }), (changes) => {
        const project = new TextProject();
        const expected = new Map<string, string[]>();
        let merge: Merging | null = null;
        const check = () => {
          for (const [scope, ids] of expected) expect(idsIn(project, scope)).toEqual(ids);
          const held = new Set([...expected.values()].flat());
          expect(deletedIds(project).filter((id) => held.has(id))).toEqual([]);
        };
        for (const { kind, scope, ids } of changes) {
          if (kind === "begin") merge ??= merging(project);
          if (kind === "finish") {
            merge?.finish();
            merge = null;
          }
          if (kind === "drop") {
            project.dropScope(scope);
            expected.delete(scope);
          }
          if (kind === "set") {
            const names = ids.map((id) => `d${id}`).sort();
            // Small segments, so that a merge is soon due.
            for (const id of names) if (!project.knows(id)) add(project, [id]);
            // The indexing thread has no numbers if the index of fields lacks a version.
            project.setScope(scope, names, ids.length % 4 === 0 ? undefined : numbered(ids));
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
    const project = new TextProject();
    const ids = Array.from({ length: 16 }, (_, i) => `d${String(i).padStart(2, "0")}`);
    for (const id of ids) add(project, [id]);
    project.setScope("s", ids);
    project.setScope("s", ids.slice(8));
    const merge = merging(project);
    expect(project.segments.size).toBe(16);
    merge?.finish();
    mergeAll(project);
    expect(idsIn(project, "s")).toEqual(ids.slice(8));
    expect(ids.filter((id) => project.knows(id))).toEqual(ids.slice(8));
  });

  test("a merge keeps documents that were added and are not in a scope yet", () => {
    const project = new TextProject();
    const ids = Array.from({ length: 64 }, (_, i) => `d${String(i).padStart(2, "0")}`);
    for (const id of ids) {
      add(project, [id]);
      mergeAll(project);
    }
    expect(ids.filter((id) => !project.knows(id))).toEqual([]);
    project.setScope("s", ids);
    expect(idsIn(project, "s")).toEqual(ids);
  });

  test("a merge starts over when a document that it left out is in a scope again", () => {
    const project = new TextProject();
    const ids = Array.from({ length: 8 }, (_, i) => `d${i}`);
    add(project, ids);
    project.setScope("s", ids);
    project.setScope("s", ids.slice(5));
    const merge = merging(project);
    project.setScope("s", ids);
    expect(merge?.finish()).toBeNull();
    expect(idsIn(project, "s")).toEqual(ids);
    expect(project.beginMerge()).toBeNull();
  });
});
