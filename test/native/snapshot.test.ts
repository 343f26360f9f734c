import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { makeVectors } from "../../support/vectors.ts";
import {
  answersOf,
  appendAll,
  buildGraph,
  dropProjects,
  freshProject,
  idsOf,
  opened,
  setScope,
  upTo,
  vectorAt,
} from "./support.ts";

const DIMENSION = 768;
/** The first slab of vectors, and a few more. */
const COUNT = 4200;
const GRAPHED = 2000;
const vectors = makeVectors("clusters", COUNT + 30, DIMENSION, 21);
const queries = upTo(30).map((i) => vectorAt(vectors, COUNT + i));
const rows = (first: number, last: number) => vectors.slice(first * DIMENSION, last * DIMENSION);

/** A project with a graph, chunks beyond it, sealed slabs, two dimensions and two scopes. */
function fill(project: string): void {
  native.openProject(project);
  const graphNodes = testing.setGraphNodes(GRAPHED);
  appendAll(project, DIMENSION, rows(0, GRAPHED));
  buildGraph(project, DIMENSION);
  testing.setGraphNodes(graphNodes);
  appendAll(project, DIMENSION, rows(GRAPHED, COUNT), GRAPHED);
  appendAll(project, 1024, makeVectors("uniform", 20, 1024, 22));
  setScope(project, "all", DIMENSION, upTo(COUNT));
  setScope(
    project,
    "some",
    DIMENSION,
    upTo(COUNT).filter((ordinal) => ordinal % 7 === 0),
  );
}

const answers = (project: string) =>
  ["all", "some"].flatMap((scope) => answersOf(project, scope, DIMENSION, queries));

/** The filled project, which all tests of its snapshot share, and a snapshot that none of them changes. */
const large = freshProject();
const snapshotOfLarge = temporaryFolder("snapshot");
let partsOfLarge: readonly native.Part[];
let answersOfLarge: ReturnType<typeof answers>;
beforeAll(() => {
  fill(large);
  answersOfLarge = answers(large);
  expect(answersOfLarge.some(({ plan }) => plan === "graph")).toBe(true);
  partsOfLarge = testing.snapshotSync(large, snapshotOfLarge);
});

/** A copy of the snapshot, from which the filled project is restored. */
function restoredLarge(): string {
  const folder = temporaryFolder("native");
  cpSync(snapshotOfLarge, folder, { recursive: true });
  native.dropProject(large);
  testing.restoreSync(large, folder, partsOfLarge);
  return folder;
}

/** A small project whose snapshot has every kind of content. */
function small(): string {
  const project = opened();
  appendAll(project, DIMENSION, rows(0, 60));
  setScope(project, "all", DIMENSION, upTo(60));
  return project;
}

/** Writes other bytes to a file, and not into the file that a loaded project maps. */
function replace(path: string, bytes: Uint8Array): void {
  rmSync(path, { force: true });
  writeFileSync(path, bytes);
}

afterAll(dropProjects);

describe("snapshots", () => {
  test("a project answers as before while and after its snapshot is written", () => {
    expect(answers(large)).toEqual(answersOfLarge);
  });

  test("a later snapshot keeps the files of full slabs and of graphs", () => {
    const folder = temporaryFolder("native");
    const [state, ...first] = testing.snapshotSync(large, folder);
    expect(first.length).toBeGreaterThan(0);
    const [next, ...second] = testing.snapshotSync(large, folder);
    expect(second).toEqual(first);
    expect(next?.name).not.toBe(state?.name as string);
    expect(readdirSync(folder)).toHaveLength(first.length + 2);
  });

  test("the parts of a snapshot are the files that it has written, with their sizes and checksums", () => {
    const folder = temporaryFolder("native");
    const parts = testing.snapshotSync(large, folder);
    expect(parts.map(({ name }) => name).sort()).toEqual(readdirSync(folder).sort());
    for (const { name, bytes, checksum } of parts) {
      const contents = readFileSync(join(folder, name));
      expect([contents.length, native.checksum(contents)]).toEqual([bytes, checksum]);
    }
  });

  test("an empty project has a snapshot, too", () => {
    const folder = temporaryFolder("native");
    const project = opened();
    const parts = testing.snapshotSync(project, folder);
    testing.restoreSync(project, folder, parts);
    expect(native.stats(project)?.dimensions).toEqual([]);
  });

  test("a restored project answers exactly as before and can grow", () => {
    const stats = native.stats(large);
    const folder = restoredLarge();
    expect(answers(large)).toEqual(answersOfLarge);
    expect(native.stats(large)).toEqual(stats);
    const more = makeVectors("clusters", 100, DIMENSION, 23);
    expect(appendAll(large, DIMENSION, more, COUNT)[0]).toBe(COUNT);
    appendAll(large, DIMENSION, rows(5, 6), COUNT + 100);
    expect(native.stats(large)?.dimensions[0]?.distinct).toBe(COUNT + 100);
    buildGraph(large, DIMENSION);
    expect(native.stats(large)?.dimensions[0]?.graphed).toBe(COUNT + 100);
    setScope(large, "all", DIMENSION, upTo(COUNT + 100));
    const parts = testing.snapshotSync(large, folder);
    const later = answers(large);
    native.dropProject(large);
    testing.restoreSync(large, folder, parts);
    expect(answers(large)).toEqual(later);
  });

  test("searches and the next snapshot work although the files of a loaded project were removed", () => {
    const folder = restoredLarge();
    for (const { name } of partsOfLarge) rmSync(join(folder, name));
    expect(answers(large)).toEqual(answersOfLarge);
    const parts = testing.snapshotSync(large, folder);
    native.dropProject(large);
    testing.restoreSync(large, folder, parts);
    expect(answers(large)).toEqual(answersOfLarge);
  });

  test("the space of a file that was removed while it was mapped is free after the next snapshot", () => {
    const folder = restoredLarge();
    for (const { name } of partsOfLarge) rmSync(join(folder, name));
    testing.snapshotSync(large, folder);
    const maps = readFileSync("/proc/self/maps", "utf8").split("\n");
    const mapped = maps.filter((line) => line.includes(folder));
    expect(mapped.length).toBeGreaterThan(0);
    expect(mapped.filter((line) => line.endsWith("(deleted)"))).toEqual([]);
  });

  test("a changed byte in any file is detected, and the loaded project stays", () => {
    const folder = temporaryFolder("native");
    const project = small();
    const parts = testing.snapshotSync(project, folder);
    fc.assert(
      fc.property(
        fc.constantFrom(...parts),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 255 }),
        ({ name, bytes }, place, mask) => {
          const path = join(folder, name);
          const original = readFileSync(path);
          const changed = Buffer.from(original);
          const at = Math.floor(place * bytes);
          changed[at] = (changed[at] as number) ^ mask;
          replace(path, changed);
          expect(() => testing.restoreSync(project, folder, parts)).toThrow("corrupt");
          replace(path, original);
        },
      ),
      { numRuns: 300 },
    );
    expect(native.hasScope(project, "all")).toBe(true);
    testing.restoreSync(project, folder, parts);
  });

  test("truncated, extended, changed, exchanged and missing files are detected", () => {
    const folder = restoredLarge();
    for (const [i, { name }] of partsOfLarge.entries()) {
      const path = join(folder, name);
      const original = readFileSync(path);
      const other = partsOfLarge.at(i - 1)?.name as string;
      const changed = Buffer.from(original);
      changed[original.length >> 1] = (changed[original.length >> 1] as number) ^ 16;
      const damages = [
        original.subarray(1),
        Buffer.alloc(0),
        Buffer.concat([original, Buffer.of(0)]),
        changed,
        readFileSync(join(folder, other)),
      ];
      for (const damaged of damages) {
        replace(path, damaged);
        expect(() => testing.restoreSync(large, folder, partsOfLarge), name).toThrow("corrupt");
      }
      rmSync(path);
      expect(() => testing.restoreSync(large, folder, partsOfLarge), name).toThrow("corrupt");
      replace(path, original);
    }
    testing.restoreSync(large, folder, partsOfLarge);
  });

  test("a forged index without vectors that has nodes is refused before it is read", () => {
    const folder = temporaryFolder("native");
    const project = opened();
    const [rowCount, text] = [77, '{"id":""}'];
    native.append(project, 0, {
      ids: idsOf(0, rowCount),
      vectors: new Float32Array(0),
      rendered: Buffer.from(text.repeat(rowCount)),
      renderedEnds: Uint32Array.from(upTo(rowCount), (row) => (row + 1) * text.length),
    });
    const [state, ...others] = testing.snapshotSync(project, folder) as [native.Part];
    const path = join(folder, state.name);
    const bytes = readFileSync(path);
    // The counts of rows and nodes follow each other.
    const counts = (nodes: number) => Buffer.from(Uint32Array.of(rowCount, nodes).buffer);
    bytes.set(counts(1), bytes.indexOf(counts(0)));
    replace(path, bytes);
    const forged = { ...state, checksum: native.checksum(bytes) };
    expect(() => testing.restoreSync(project, folder, [forged, ...others])).toThrow(
      "an index without vectors has nodes",
    );
  });

  test("a list of other parts is refused", () => {
    const folder = restoredLarge();
    const [state, ...others] = partsOfLarge as [native.Part, ...native.Part[]];
    for (const parts of [[], [...others, state], [state], [state, ...others.slice(1)]]) {
      expect(() => testing.restoreSync(large, folder, parts)).toThrow("corrupt");
    }
    const wrong: unknown[] = [undefined, [1], [{ ...state, bytes: -1 }], [{ ...state, name: 1 }]];
    for (const parts of wrong) {
      expect(() => testing.restoreSync(large, folder, parts as native.Part[])).toThrow(TypeError);
    }
  });

  test("a snapshot to a folder that cannot be written throws and changes nothing", () => {
    const folder = temporaryFolder("native");
    const project = small();
    const parts = testing.snapshotSync(project, folder);
    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(() => testing.snapshotSync(project, join(file, "below"))).toThrow();
    testing.restoreSync(project, folder, parts);
  });
});

test("the checksum is XXH64", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const expected = Bun.hash.xxHash64(bytes).toString(16).padStart(16, "0");
      expect(native.checksum(bytes)).toBe(expected);
    }),
  );
});
