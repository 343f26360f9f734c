/**
 * A snapshot of a project as an earlier build wrote it, stored with the tests.
 *
 * `bun test/unit/indexing/stored-snapshot.ts` writes it again. That is right only when a version in
 * src/shared/disk-formats.ts was raised on purpose: until then every build must read the stored files.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as native from "../../../native/index.ts";
import * as testing from "../../../native/testing.ts";
import { SnapshotStore } from "../../../src/indexing/snapshots/snapshot-store.ts";
import { TextIndex } from "../../../src/indexing/text/text-index.ts";
import { VectorIndex } from "../../../src/indexing/vector/vector-index.ts";
import type {
  ChunkRow,
  DocumentRow,
  VersionReader,
} from "../../../src/indexing/versions/version-index.ts";
import { type TextMessage, ViewStore } from "../../../src/text/index.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import { lookUp } from "../../../support/requests.ts";
import { until } from "../../../support/until.ts";
import { PLAIN_NAMES } from "./plain-names.ts";

export const PROJECT = "0b0e7f4c-52a1-4a52-9b35-6f0f4c1e2d3a";
/** What the manifest of the stored snapshot says. */
export const MANIFEST = {
  databaseId: "5d1c2b8e-3f64-4c0b-8a19-7e2f9d6b4c21",
  anchor: { seq: 41, at: "2025-01-01 00:00:00+00" },
  seq: 42,
};
const FOLDER = join(import.meta.dir, "../../fixtures/snapshot");
const ANSWERS = "answers.json";

/** Enough vectors for a graph and for one sealed file; one direction has `SCALES` of them. */
const DIRECTIONS = 420;
const SCALES = 12;
const SMALL = { directions: 10, scales: 7 };
const [DIMENSION, SMALL_DIMENSION] = [768, 1024];

/** Vectors of one direction have nearly the same codes, so that the stored files compress well. */
function vectorOf(dimension: number, direction: number, scale: number): Float32Array<ArrayBuffer> {
  const vector = new Float32Array(dimension);
  vector[direction] = 1 + scale / 16;
  vector[direction + 1] = (1 + scale / 16) / 2;
  vector[dimension - 1] = scale / 64;
  return vector;
}

const uuid = (number: number) => `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;

function chunkOf(version: string, index: number, vector: Float32Array): ChunkRow {
  return {
    id: uuid(Number.parseInt(version.slice(1), 10) * 1000 + index),
    file_version_id: version,
    file_id: uuid(1),
    file_path: `${version}.md`,
    index,
    content: `chunk ${index} of ${version}: é`,
    start_offset: index * 100,
    end_offset: index * 100 + 99,
    token_count: 25,
    metadata: `{"index":${index}}`,
    dimension: vector.length,
    embedding: new Uint8Array(vector.buffer),
  };
}

/** Version `v<d>` has the vectors of direction d; the last but one repeats those of the first. */
function chunksOf(version: string): ChunkRow[] {
  const number = Number.parseInt(version.slice(1), 10);
  const small = number === DIRECTIONS + 1;
  const vectors = small
    ? Array.from({ length: SMALL.directions * SMALL.scales }, (_, i) =>
        vectorOf(SMALL_DIMENSION, i % SMALL.directions, Math.floor(i / SMALL.directions)),
      )
    : Array.from({ length: SCALES }, (_, i) => vectorOf(DIMENSION, number % DIRECTIONS, i));
  return vectors.map((vector, index) => chunkOf(version, index, vector));
}

const VERSIONS = Array.from({ length: DIRECTIONS + 2 }, (_, i) => `v${i}`);
const DOCUMENTS: readonly DocumentRow[] = [
  ["d1", "guide/install.md", "# Install\n\nCopy the binary and start the server."],
  ["d2", "guide/configure.md", "---\ntags: [ports]\n---\n# Configure\n\nThe server reads a file."],
  ["d3", "reference/api.md", "# API\n\n## Authentication\n\nSend the key in a header."],
  ["d4", "reference/errors.md", "# Errors\n\nA wrong key is refused: größer, 検索."],
  ["d5", "old.md", "# Old\n\nNo scope holds this file any more; it names a server."],
].map(([id = "", path = "", content = ""]) => ({ file_version_id: id, path, content }));

const reader: VersionReader = {
  async *chunks(ids) {
    for (const id of ids) yield chunksOf(id);
  },
  async *documents(ids) {
    yield DOCUMENTS.filter(({ file_version_id: id }) => ids.includes(id));
  },
  async *fields() {},
};

export interface Opened {
  readonly root: string;
  readonly store: SnapshotStore;
  readonly vector: VectorIndex;
  readonly text: TextIndex;
  readonly views: ViewStore;
}

function open(root: string): Opened {
  const views = new ViewStore();
  return {
    root,
    store: new SnapshotStore(root),
    vector: new VectorIndex(PLAIN_NAMES),
    text: new TextIndex((message: TextMessage) => views.receive(message)),
    views,
  };
}

/** Unpacks the stored snapshot into a folder of its own. Nothing is restored yet. */
export function openStored(): Opened {
  const root = temporaryFolder("stored-snapshot-");
  for (const file of readdirSync(FOLDER, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".zst")) continue;
    const path = join(root, PROJECT, file.slice(0, -".zst".length));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Bun.zstdDecompressSync(readFileSync(join(FOLDER, file))));
  }
  return open(root);
}

export interface Answers {
  readonly vectors: Record<
    string,
    { readonly plan: string; readonly hits: [id: string, score: number][] }
  >;
  readonly texts: Record<string, string[]>;
}

export const storedAnswers = (): Answers =>
  JSON.parse(readFileSync(join(FOLDER, ANSWERS), "utf8")) as Answers;

function vectorAnswer(scope: string, query: Float32Array<ArrayBuffer>, limit: number) {
  const found = testing.searchRaw(PROJECT, scope, query, query.length, limit, 0);
  const hits = Array.from(found.scores, (score, i): [string, number] => {
    const id = Buffer.from(found.ids.subarray(i * 16, i * 16 + 16)).toString("hex");
    return [id, Number(score.toFixed(9))];
  });
  return { plan: found.plan, hits };
}

function textAnswer(views: ViewStore, scope: string, query: string): string[] {
  const view = views.view(PROJECT, scope);
  if (view === undefined) return [];
  const { json } = lookUp(view, query);
  const { data } = JSON.parse(new TextDecoder().decode(json)) as { data: Array<{ path: string }> };
  return data.map(({ path }) => path);
}

/** What a restored project answers to searches by each plan and to lookups. */
export function answersOf({ views }: Opened): Answers {
  const near = vectorOf(DIMENSION, 7, 3);
  near[8] = 0.55;
  return {
    vectors: {
      "environment, by the graph": vectorAnswer("environment", near, 8),
      "environment, repeated vectors": vectorAnswer("environment", vectorOf(DIMENSION, 0, 4), 10),
      "environment, the other dimension": vectorAnswer(
        "environment",
        vectorOf(SMALL_DIMENSION, 4, 2),
        10,
      ),
      "release, by a scan": vectorAnswer("release", near, 10),
      "tag, by brute force": vectorAnswer("tag", near, 10),
    },
    texts: {
      "environment: server": textAnswer(views, "environment", "server"),
      "environment: 検索": textAnswer(views, "environment", "検索"),
      "environment: ports": textAnswer(views, "environment", "ports"),
      "release: key": textAnswer(views, "release", "key"),
    },
  };
}

async function generate(): Promise<void> {
  const opened = open(temporaryFolder("stored-snapshot-"));
  const { root, store, vector, text } = opened;
  for (const index of [vector, text]) index.openProject(PROJECT);
  await vector.add(PROJECT, VERSIONS, reader);
  vector.setScope(PROJECT, "environment", VERSIONS);
  vector.setScope(PROJECT, "release", VERSIONS.slice(0, 30));
  vector.setScope(PROJECT, "tag", VERSIONS.slice(7, 8));
  await until("the graph is built", () => vector.maintain(PROJECT) === "done");
  const ids = DOCUMENTS.map(({ file_version_id: id }) => id);
  await text.add(PROJECT, ids, reader);
  text.setScope(PROJECT, "environment", ids);
  text.setScope(PROJECT, "environment", ids.slice(0, 4));
  text.setScope(PROJECT, "release", ids.slice(2, 4));
  store.prepare(PROJECT);
  for (const index of [vector, text])
    await index.snapshot(PROJECT, store.directory(PROJECT, index.name));
  await store.commit(PROJECT, MANIFEST);
  rmSync(FOLDER, { recursive: true, force: true });
  for (const file of readdirSync(join(root, PROJECT), { recursive: true, encoding: "utf8" })) {
    const from = join(root, PROJECT, file);
    if (!file.includes(".") && !file.endsWith("MANIFEST")) continue;
    mkdirSync(dirname(join(FOLDER, file)), { recursive: true });
    writeFileSync(
      join(FOLDER, `${file}.zst`),
      Bun.zstdCompressSync(readFileSync(from), { level: 19 }),
    );
  }
  writeFileSync(join(FOLDER, ANSWERS), `${JSON.stringify(answersOf(opened), null, 1)}\n`);
  console.log(native.stats(PROJECT));
}

if (import.meta.main) await generate();
