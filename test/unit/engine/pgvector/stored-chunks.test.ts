import { expect, test } from "bun:test";
import type { Given } from "../../../../native/retrieval.ts";
import type { Scope } from "../../../../src/domain/scope.ts";
import { StoredChunks } from "../../../../src/engine/pgvector/stored-chunks.ts";
import type { Reply, RetrieveRequest } from "../../../../src/engine/requests/request.ts";
import type { ChunkRow, EmptyVersionRow } from "../../../../src/index/versions/version-index.ts";
import { SCOPE } from "../../../../support/requests.ts";

const fileOf = (version: string) => ({
  file_version_id: version,
  file_id: `file of ${version}`,
  file_path: `${version}.md`,
});
const chunkOf = (version: string, index: number): ChunkRow => ({
  id: `${version} ${index}`,
  ...fileOf(version),
  index,
  content: "text",
  start_offset: 0,
  end_offset: 4,
  token_count: 1,
  metadata: "{}",
  embedding: null,
});
/** The versions that are stored: `none` has no chunks. */
const STORED: Readonly<Record<string, ReadonlyArray<ChunkRow | EmptyVersionRow>>> = {
  none: [{ id: null, ...fileOf("none"), embedding: null }],
  one: [chunkOf("one", 0)],
  three: [0, 1, 2].map((index) => chunkOf("three", index)),
};

const chunks = new StoredChunks(
  {
    async *chunks(ids) {
      for (const id of ids) yield STORED[id] ?? [];
    },
  },
  async (_scope, among) => ({
    versionIds: among.filter((id) => id === "one"),
    partIds: ["three", "three"],
    positions: [0, 2],
    sizes: new Map(),
  }),
);

const answered = { status: "answered" } as Reply<"retrieve">;

/** The versions that a retrieval is given which shows versions, one after the other. */
async function given(scope: Scope, ...missing: readonly (readonly string[])[]) {
  const request = { kind: "retrieve", scope } as RetrieveRequest;
  const left = missing.map((versionIds) => ({ status: "missing-chunks", versionIds }) as const);
  expect(await chunks.retrieve(request, null, () => left.shift() ?? answered)).toBe(answered);
  return idsOf(request.given?.versions ?? []);
}

/** The ids of the chunks of versions, or the path of a version without chunks. */
const idsOf = (versions: Given["versions"]) =>
  Object.fromEntries(
    versions.map(({ id, chunks: own }) => [
      id,
      own.flatMap((each) => {
        if (typeof each !== "string") return [];
        const { id: chunk, file_path: path } = JSON.parse(each);
        return [chunk || path];
      }),
    ]),
  );

test("a retrieval is given the chunks of each version that it shows, and nothing of a deleted one", async () => {
  expect(await given(SCOPE)).toEqual({});
  expect(await given(SCOPE, ["three", "none"], ["deleted"])).toEqual({
    three: ["three 0", "three 1", "three 2"],
    none: ["none.md"],
    deleted: [],
  });
});

test("of a scope with a filter it is given the chunks that match", async () => {
  const scope = { ...SCOPE, id: "scope#filter", filter: { base: "scope", json: "{}" } };
  expect(await given(scope, ["one", "three", "none"])).toEqual({
    one: ["one 0"],
    three: ["three 0", "three 2"],
    none: [],
  });
});
