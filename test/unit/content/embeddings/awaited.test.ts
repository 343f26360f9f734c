import { expect, test } from "bun:test";
import { AwaitedEmbeddings } from "../../../../src/content/embeddings/queue/awaited.ts";
import { advance, turns, useFakeClock } from "../../../../support/fake-clock.ts";

useFakeClock();

const EMBEDDER = "hashing:hashing:768";
/** In this time the queue is read again. */
const LOOK_MS = 100;

/** A project whose files wait at these places of the queue. */
function queueOf(...places: number[]) {
  const position = (): object => ({
    id: "project",
    embedder: EMBEDDER,
    seq: 7,
    oldest: places[0] ?? null,
    newest: places.at(-1) ?? null,
  });
  const embeddings = new AwaitedEmbeddings((() => Promise.resolve([position()])) as never);
  const ends: (number | undefined)[] = [];
  const wait = (isOver = () => false, embedder?: string) =>
    embeddings
      .position("project", embedder === undefined ? { isOver } : { isOver, embedder })
      .then((seq) => ends.push(seq));
  return { places, embeddings, ends, wait };
}

test("files that are stored later do not prolong a wait", async () => {
  const { places, ends, wait } = queueOf(1, 2);
  void wait();
  // The queue is never empty: another file arrives before each is embedded.
  for (let next = 3; next < 6; next++) {
    await advance(LOOK_MS);
    expect(ends).toEqual(next < 5 ? [] : [7]);
    places.push(next);
    places.shift();
  }
});

test("a wait ends by its own rule, and at once where nothing or another embedder is waited for", async () => {
  const { places, ends, wait } = queueOf(1);
  let isOver = false;
  void wait(() => isOver);
  await advance(LOOK_MS);
  expect(ends).toEqual([]);
  isOver = true;
  await advance(LOOK_MS);
  expect(ends).toEqual([undefined]);
  void wait(() => false, "other:model:768");
  await advance(LOOK_MS);
  places.length = 0;
  void wait();
  await advance(LOOK_MS);
  expect(ends).toEqual([undefined, 7, 7]);
});

test("a project without an embedder has nothing to wait for", async () => {
  const embeddings = new AwaitedEmbeddings((() => Promise.resolve([])) as never);
  const position = embeddings.position("project", { isOver: () => false });
  await turns();
  expect(await position).toBe(0);
});
