import { afterEach, expect, jest, test } from "bun:test";
import { Writable } from "node:stream";
import { WaitNotice } from "../../../src/cli/progress.ts";

afterEach(() => {
  jest.useRealTimers();
});

/** A stream, and all that was written to it. */
function collector() {
  const written: string[] = [];
  const stream = new Writable({
    write(text, _, done) {
      written.push(String(text));
      done();
    },
  });
  return { stream, written };
}

test("a waiting command writes every five seconds what it waits for, and nothing where that takes less", () => {
  jest.useFakeTimers();
  const { stream, written } = collector();
  const wait = new WaitNotice(stream);
  wait.show("indexing: 1 of 9");
  jest.advanceTimersByTime(4_999);
  expect(written).toEqual([]);
  wait.show("indexing: 2 of 9");
  jest.advanceTimersByTime(1);
  expect(written).toEqual(["tessera: indexing: 2 of 9\n"]);
  jest.advanceTimersByTime(5_000);
  expect(written).toHaveLength(2);
  wait.stop();
  jest.advanceTimersByTime(60_000);
  expect(written).toHaveLength(2);
});

test("a terminal shows in a line that is redrawn what a command waits for", () => {
  const { stream, written } = collector();
  const wait = new WaitNotice(Object.assign(stream, { isTTY: true, columns: 80 }));
  wait.show("indexing: 1 of 9");
  wait.stop();
  expect(written.join("")).toContain("indexing: 1 of 9");
  expect(written.join("")).not.toContain("tessera:");
});
