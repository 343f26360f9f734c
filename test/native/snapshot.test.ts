import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import * as native from "../../native/index.ts";
import * as testing from "../../native/testing.ts";
import { DISK_FORMATS, otherFormat } from "../../src/domain/disk-formats.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { makeVectors } from "../../support/vectors.ts";
import {
  answersOf,
  appendAll,
  buildGraph,
  dropProjects,
  freshProject,
  opened,
  setScope,
  upTo,
  vectorAt,
} from "./support.ts";

const DIMENSION = 768;
/** The first slab of vectors, and a few more. */
const COUNT = 4200;
const GRAPHED = 2000;
const META = Uint8Array.from([1, 2, 3, 0, 255]);
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
let answersOfLarge: ReturnType<typeof answers>;
beforeAll(() => {
  fill(large);
  answersOfLarge = answers(large);
  expect(answersOfLarge.some(({ plan }) => plan === "graph")).toBe(true);
  testing.snapshotSync(large, snapshotOfLarge, META);
});

/** A copy of the snapshot, from which the filled project is restored. */
function restoredLarge(): string {
  const folder = temporaryFolder("native");
  cpSync(snapshotOfLarge, folder, { recursive: true });
  native.dropProject(large);
  expect(testing.restoreSync(large, folder)).toEqual(META);
  return folder;
}

/** A small project whose snapshot has every kind of content. */
function small(): string {
  const project = opened();
  appendAll(project, DIMENSION, rows(0, 60));
  setScope(project, "all", DIMENSION, upTo(60));
  return project;
}

const dataFiles = (folder: string) => readdirSync(folder).map((name) => join(folder, name));

afterAll(dropProjects);

describe("snapshots", () => {
  test("a project answers as before while and after its snapshot is written", () => {
    expect(answers(large)).toEqual(answersOfLarge);
  });

  test("a later snapshot keeps the files of full slabs and removes the others", () => {
    const folder = temporaryFolder("native");
    testing.snapshotSync(large, folder, META);
    const first = readdirSync(folder);
    const sealed = first.filter((name) => name.startsWith("slab-"));
    expect(sealed.length).toBeGreaterThan(0);
    testing.snapshotSync(large, folder, META);
    const second = readdirSync(folder);
    expect(second.length).toBe(first.length);
    for (const name of sealed) expect(second).toContain(name);
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
    testing.snapshotSync(large, folder, new Uint8Array());
    const later = answers(large);
    native.dropProject(large);
    expect(testing.restoreSync(large, folder)).toEqual(new Uint8Array());
    expect(answers(large)).toEqual(later);
  });

  test("searches and the next snapshot work although the files of a loaded project were removed", () => {
    const folder = restoredLarge();
    for (const file of dataFiles(folder)) rmSync(file);
    expect(answers(large)).toEqual(answersOfLarge);
    testing.snapshotSync(large, folder, META);
    native.dropProject(large);
    expect(testing.restoreSync(large, folder)).toEqual(META);
    expect(answers(large)).toEqual(answersOfLarge);
    rmSync(folder, { recursive: true });
    testing.snapshotSync(large, folder, META);
    expect(existsSync(join(folder, "MANIFEST"))).toBe(true);
  });

  test("restoring from an empty or missing folder returns null", () => {
    const folder = temporaryFolder("native");
    expect(testing.restoreSync(freshProject(), folder)).toBeNull();
    expect(testing.restoreSync(freshProject(), join(folder, "none"))).toBeNull();
  });

  test("a snapshot of another project is refused", () => {
    const folder = temporaryFolder("native");
    const project = small();
    testing.snapshotSync(project, folder, META);
    expect(() => testing.restoreSync(freshProject(), folder)).toThrow("another project");
  });

  test("a changed byte in any file is detected, and the loaded project stays", () => {
    const folder = temporaryFolder("native");
    const project = small();
    testing.snapshotSync(project, folder, META);
    const files = dataFiles(folder);
    const sizes = files.map((file) => statSync(file).size);
    fc.assert(
      fc.property(
        fc.nat(files.length - 1),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 255 }),
        (file, place, mask) => {
          const path = files[file] as string;
          const original = readFileSync(path);
          const changed = Buffer.from(original);
          const at = Math.floor(place * (sizes[file] as number));
          changed[at] = (changed[at] as number) ^ mask;
          writeFileSync(path, changed);
          expect(() => testing.restoreSync(project, folder)).toThrow("corrupt");
          writeFileSync(path, original);
        },
      ),
      { numRuns: 300 },
    );
    expect(native.hasScope(project, "all")).toBe(true);
    expect(testing.restoreSync(project, folder)).toEqual(META);
  });

  test("a changed bit in any byte of the manifest is detected", () => {
    const folder = temporaryFolder("native");
    const project = small();
    testing.snapshotSync(project, folder, META);
    const path = join(folder, "MANIFEST");
    const original = readFileSync(path);
    for (let at = 0; at < original.length; at++) {
      const changed = Buffer.from(original);
      changed[at] = (changed[at] as number) ^ 1;
      writeFileSync(path, changed);
      expect(() => testing.restoreSync(project, folder)).toThrow("corrupt");
    }
  });

  test("truncated, extended, changed and missing files are detected", () => {
    const folder = restoredLarge();
    for (const path of dataFiles(folder)) {
      const original = readFileSync(path);
      const damages: (() => void)[] = [
        () => truncateSync(path, original.length - 1),
        () => truncateSync(path, 0),
        () => appendFileSync(path, "x"),
        () => {
          const changed = Buffer.from(original);
          changed[original.length >> 1] = (changed[original.length >> 1] as number) ^ 16;
          writeFileSync(path, changed);
        },
      ];
      if (!path.endsWith("MANIFEST")) damages.push(() => rmSync(path));
      for (const damage of damages) {
        // A new file each time, because the loaded project still maps the old one.
        rmSync(path, { force: true });
        writeFileSync(path, original);
        damage();
        expect(() => testing.restoreSync(large, folder), path).toThrow("corrupt");
      }
      rmSync(path, { force: true });
      writeFileSync(path, original);
    }
    expect(testing.restoreSync(large, folder)).toEqual(META);
  });

  test("a snapshot of another format version or byte order is refused with the reason", () => {
    const folder = temporaryFolder("native");
    const project = small();
    testing.snapshotSync(project, folder, META);
    const path = join(folder, "MANIFEST");
    const original = readFileSync(path);
    const version = Buffer.from(original);
    version.writeUInt32LE(99, 8);
    writeFileSync(path, version);
    expect(() => testing.restoreSync(project, folder)).toThrow(
      otherFormat(99, DISK_FORMATS.nativeSnapshot),
    );
    const order = Buffer.from(original);
    order.subarray(12, 16).reverse();
    writeFileSync(path, order);
    expect(() => testing.restoreSync(project, folder)).toThrow("byte order");
  });

  test("a snapshot to a folder that cannot be written throws and changes nothing", () => {
    const folder = temporaryFolder("native");
    const project = small();
    testing.snapshotSync(project, folder, META);
    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(() => testing.snapshotSync(project, join(file, "below"), META)).toThrow();
    mkdirSync(join(folder, "MANIFEST.new"));
    expect(() => testing.snapshotSync(project, folder, Uint8Array.of(9))).toThrow();
    expect(testing.restoreSync(project, folder)).toEqual(META);
  });
});
