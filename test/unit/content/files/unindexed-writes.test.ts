import { expect, test } from "bun:test";
import {
  UNINDEXED_MAX_BYTES,
  UnindexedWrites,
} from "../../../../src/content/files/unindexed-writes.ts";
import { projectEmbedders } from "../../../../src/embed/embedders/project-embedders.ts";
import { advance, turns, useFakeClock } from "../../../../support/fake-clock.ts";

useFakeClock();

const NEVER = new AbortController().signal;
/** In this time it is seen that a text has its embeddings. */
const SEEN_MS = 60;
const HALF = UNINDEXED_MAX_BYTES / 2;
const embedders = projectEmbedders([], () => {});
const embedder = embedders.get("hashing")?.fingerprint;

/** Writes whose embeddings and indexes are made when the test says so. */
function writing(countsMaxMs?: number) {
  const unembedded = new Set<string>();
  const unindexed = new Set<() => void>();
  // Each text is in a project of its own, which waits while the text does.
  const sql = () =>
    Promise.resolve(
      stored.map((id) => {
        const place = unembedded.has(id) ? 1 : null;
        return { id, embedder, seq: 1, oldest: place, newest: place };
      }),
    );
  const engine = {
    waitFor: () => new Promise<boolean>((resolve) => unindexed.add(() => resolve(true))),
  };
  const writes = new UnindexedWrites({ sql: sql as never, engine, embedders }, countsMaxMs);
  const stored: string[] = [];
  const write = async (id: string, bytes: number, tenant = "one", signal = NEVER) => {
    const leave = await writes.admit(tenant, bytes, signal);
    stored.push(id);
    unembedded.add(id);
    void writes.untilIndexed({ projectId: id } as never).finally(leave);
  };
  const index = async (files = 1) => {
    await advance(SEEN_MS);
    expect(unindexed.size).toBe(files);
    for (const resolve of unindexed) resolve();
    unindexed.clear();
    await turns();
  };
  return { writes, write, stored, unembedded, index };
}

test("the unindexed writes of a user stay within the bound, and others write", async () => {
  const { write, stored, unembedded, index } = writing();
  await Promise.all([write("a", HALF), write("b", HALF)]);
  const third = write("c", HALF);
  const fourth = write("d", 1);
  await write("x", UNINDEXED_MAX_BYTES, "other");
  unembedded.delete("a");
  await advance(SEEN_MS);
  // It has its embeddings, and searches do not show them yet.
  expect(stored).toEqual(["a", "b", "x"]);
  await index();
  await third;
  expect(stored).toEqual(["a", "b", "x", "c"]);
  unembedded.delete("b");
  await index();
  await fourth;
});

test("many short texts count for more than they have, and a longer one than the bound is stored alone", async () => {
  const { write, stored, unembedded, index } = writing();
  const short = Array.from({ length: 200 }, (_, i) => write(String(i), 1));
  await turns();
  const first = [...stored];
  expect(first.length).toBeGreaterThan(10);
  expect(first.length).toBeLessThan(short.length);
  const long = write("long", 10 * UNINDEXED_MAX_BYTES);
  for (const id of first) unembedded.delete(id);
  await index(first.length);
  await Promise.all(short);
  expect(stored).not.toContain("long");
  unembedded.clear();
  await index(short.length - first.length);
  await long;
});

test("writes that fail or have lost their client count no more", async () => {
  const { writes, write, unembedded, index } = writing();
  const leave = await writes.admit("one", UNINDEXED_MAX_BYTES, NEVER);
  leave();
  await write("a", UNINDEXED_MAX_BYTES);
  const client = new AbortController();
  const left = write("b", UNINDEXED_MAX_BYTES, "one", client.signal).catch((error) => error.slug);
  client.abort();
  unembedded.delete("a");
  await index();
  expect(await left).toBe("overloaded");
  await write("c", UNINDEXED_MAX_BYTES);
});

test("a text counts for as long as others get their embeddings, however slowly, and no longer once none does", async () => {
  const { write, stored, unembedded, index } = writing(1_500);
  await Promise.all([write("a", HALF), ...["b", "c", "d", "e"].map((id) => write(id, HALF / 4))]);
  const waiting = write("f", HALF);
  for (const id of ["b", "c", "d", "e"]) {
    await advance(1_400);
    expect(stored).not.toContain("f");
    unembedded.delete(id);
  }
  await index(4);
  await waiting;
  void write("g", HALF);
  await advance(1_400);
  expect(stored).not.toContain("g");
  await advance(SEEN_MS + 100);
  expect(stored).toContain("g");
});
