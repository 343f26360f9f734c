import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as native from "../../../../native/index.ts";
import { FieldIndex } from "../../../../src/index/fields/field-index.ts";
import type { IndexingContext } from "../../../../src/index/projects/indexing-context.ts";
import { restoreProject } from "../../../../src/index/projects/restore-project.ts";
import type { Manifest } from "../../../../src/index/snapshots/manifest.ts";
import { SnapshotStore } from "../../../../src/index/snapshots/snapshot-store.ts";
import { TextIndex } from "../../../../src/index/text/text-index.ts";
import { VectorIndex } from "../../../../src/index/vector/vector-index.ts";
import { VersionTable } from "../../../../src/index/versions/version-table.ts";
import { temporaryFolder } from "../../../../support/folders.ts";
import { PLAIN_NAMES } from "../plain-names.ts";
import { ORIGIN } from "../saved.ts";
import { membersOf } from "../tables.ts";

const PROJECT = randomUUID();
const DIMENSION = 768;
const IDS = ["v1", "v2", "v3"];
/** Places of each file that are damaged, from its first byte to its last. */
const REGIONS = 24;

const reader = {
  async *chunks(ids: readonly string[]) {
    yield ids.map((id, i) => ({
      id: randomUUID(),
      file_version_id: id,
      file_id: randomUUID(),
      file_path: `${id}.md`,
      index: 0,
      content: id,
      start_offset: 0,
      end_offset: 1,
      token_count: 1,
      metadata: "{}",
      dimension: DIMENSION,
      embedding: new Uint8Array(new Float32Array(DIMENSION).fill(1, i).buffer),
    }));
  },
  async *documents(ids: readonly string[]) {
    yield ids.map((id) => ({ file_version_id: id, path: `${id}.md`, content: `# ${id}` }));
  },
  async *fields(ids: readonly string[]) {
    const row = { head: null, dimensions: [DIMENSION], metadata: "[{}]" };
    yield ids.map((id) => ({ file_version_id: id, path: `${id}.md`, ...row }));
  },
};

const openIndexes = () =>
  [new FieldIndex(PLAIN_NAMES), new VectorIndex(PLAIN_NAMES), new TextIndex(() => {})] as const;

const saved = temporaryFolder("parts");
let manifest: Manifest;

beforeAll(async () => {
  const indexes = openIndexes();
  const table = new VersionTable();
  for (const index of indexes) {
    index.openProject(PROJECT, table);
    await index.add(PROJECT, IDS, reader);
  }
  table.added(IDS);
  const [, vector, text] = indexes;
  for (const index of [vector, text]) index.setScope(PROJECT, "scope", membersOf(table, IDS));
  table.setScope("scope", table.setOf(IDS));
  const store = new SnapshotStore(saved);
  await store.write(PROJECT, ORIGIN, indexes);
  manifest = store.read(PROJECT) as Manifest;
  vector.dropProject(PROJECT);
});

afterAll(() => native.dropProject(PROJECT));

/** Restores the project from a copy of its snapshot that was damaged. */
async function restored(damage: (folder: string) => void) {
  const root = temporaryFolder("parts");
  cpSync(saved, root, { recursive: true });
  damage(join(root, PROJECT));
  const snapshots = new SnapshotStore(root);
  const warnings: string[] = [];
  const context = {
    indexes: openIndexes(),
    snapshots,
    databaseId: ORIGIN.databaseId,
    changes: { checkAnchor: async () => "valid", after: async () => [] },
    log: { warn: (_: object, message: string) => void warnings.push(message) },
  } as unknown as IndexingContext;
  const { table, scopes } = await restoreProject(PROJECT, context);
  const isLoaded = native.projects().includes(PROJECT);
  if (isLoaded) native.dropProject(PROJECT);
  rmSync(root, { recursive: true });
  return { known: IDS.filter((id) => table.knows(id)), scopes, warnings, isLoaded };
}

const REBUILT = {
  known: [],
  scopes: null,
  isLoaded: false,
  warnings: ["an index snapshot is damaged and is rebuilt"],
};

/** The manifest and its parts. */
const files = () => [
  "manifest.json",
  ...Object.values(manifest.parts)
    .flat()
    .map((p) => p.name),
];

test("a whole snapshot is read", async () => {
  const outcome = await restored(() => {});
  expect(outcome).toEqual({ known: IDS, scopes: [], warnings: [], isLoaded: true });
  expect(Object.keys(manifest.parts)).toEqual(["fields", "vector", "text"]);
  expect(files().length).toBeGreaterThan(5);
});

test("with a changed byte in any region of any part the project is rebuilt", async () => {
  for (const name of files()) {
    const whole = readFileSync(join(saved, PROJECT, name));
    const places = Array.from({ length: REGIONS }, (_, i) =>
      Math.floor((i * (whole.length - 1)) / (REGIONS - 1)),
    );
    for (const at of new Set(places)) {
      const changed = whole.with(at, (whole[at] as number) ^ 0x10);
      const damage = (folder: string) => {
        rmSync(join(folder, name));
        writeFileSync(join(folder, name), changed);
      };
      expect(await restored(damage), `byte ${at} of ${name}`).toEqual(REBUILT);
    }
  }
});

test("with any part short, long, missing or in the place of another the project is rebuilt", async () => {
  const all = files();
  for (const [i, name] of all.entries()) {
    const whole = readFileSync(join(saved, PROJECT, name));
    const other = readFileSync(join(saved, PROJECT, all.at(i - 1) as string));
    const longer = Buffer.concat([whole, Buffer.of(0)]);
    for (const bytes of [whole.subarray(0, -1), whole.subarray(0, 0), longer, other]) {
      const damage = (folder: string) => {
        rmSync(join(folder, name));
        writeFileSync(join(folder, name), bytes);
      };
      expect(await restored(damage), `${bytes.length} bytes of ${name}`).toEqual(REBUILT);
    }
    const lost = (folder: string) => rmSync(join(folder, name));
    const warnings = i === 0 ? [] : REBUILT.warnings;
    expect(await restored(lost), `without ${name}`).toEqual({ ...REBUILT, warnings });
  }
});

test("with the snapshot of another project the project is rebuilt", async () => {
  const foreign = (folder: string) => {
    const text = readFileSync(join(folder, "manifest.json"), "utf8");
    writeFileSync(join(folder, "manifest.json"), text.replaceAll(PROJECT, randomUUID()));
  };
  expect(await restored(foreign)).toEqual(REBUILT);
});
