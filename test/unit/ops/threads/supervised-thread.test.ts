import { afterEach, expect, jest, test } from "bun:test";
import { SupervisedThread } from "../../../../src/ops/threads/supervised-thread.ts";
import { advance } from "../../../../support/fake-clock.ts";
import type { TestProtocol } from "./test-thread.ts";

const PAUSE_MS = 20;
/** Longer than a test may take. */
const LONG_MS = 3_600_000;
const open: SupervisedThread<TestProtocol>[] = [];

afterEach(async () => {
  jest.useRealTimers();
  for (const thread of open.splice(0)) await thread.close();
});

/** A thread, what it has told, and why it has crashed. */
function start(timing: { restartMs?: number; idleMs?: number } = {}) {
  const told: string[] = [];
  const crashes: string[] = [];
  const waiting: Array<() => void> = [];
  const noted = () => {
    for (const wake of waiting.splice(0)) wake();
  };
  const thread = new SupervisedThread<TestProtocol>({
    entry: new URL("./test-thread.ts", import.meta.url),
    name: "test",
    options: { name: "tested" },
    ...timing,
    receive(event) {
      told.push(event);
      noted();
    },
    crashed({ message }) {
      crashes.push(message);
      noted();
    },
  });
  open.push(thread);
  const until = async (isReached: () => boolean) => {
    while (!isReached()) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { thread, told, crashes, until };
}

const count = (told: readonly string[], wanted: string) =>
  told.filter((each) => each === wanted).length;

test("tasks and commands reach a thread in order, and each task gets its own result", async () => {
  const { thread, told } = start();
  const slow = Promise.allSettled([thread.run("slow")]);
  thread.tell("a command");
  expect(await thread.run("fast")).toBe("tested: fast");
  expect(told).toEqual(["started", "slow", "a command", "fast"]);
  expect(thread.load).toBe(1);
  await thread.close();
  expect(await slow).toMatchObject([{ reason: { message: "the thread test has ended" } }]);
});

test("a thread that is not restarted rejects its tasks with the error that ended it", async () => {
  const { thread, crashes } = start();
  const answers = await Promise.allSettled([thread.run("slow"), thread.run("crash")]);
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: "rejected", reason: { message: "crashed on purpose" } });
  }
  expect(crashes).toEqual(["crashed on purpose"]);
  expect(thread.hasEnded).toBe(true);
});

test("a restarted thread gets the tasks that the crashed one has not answered, and no others", async () => {
  const { thread, told, crashes, until } = start({ restartMs: PAUSE_MS });
  await thread.run("fast");
  void thread.run("slow").catch(() => {});
  void thread.run("crash").catch(() => {});
  await until(() => crashes.length === 1);
  await until(() => count(told, "slow") === 2);
  expect(thread.hasEnded).toBe(false);
  expect(count(told, "started")).toBe(2);
  expect(count(told, "fast")).toBe(1);
});

test("a task that ends two threads is rejected, and the third one serves the others", async () => {
  const { thread, told, crashes } = start({ restartMs: PAUSE_MS });
  const [crash] = await Promise.allSettled([thread.run("crash")]);
  expect(crash).toMatchObject({ status: "rejected", reason: { message: "crashed on purpose" } });
  expect(await thread.run("fast")).toBe("tested: fast");
  expect(crashes).toHaveLength(2);
  expect(count(told, "crash")).toBe(2);
  expect(thread.load).toBe(0);
});

test.each([{}, { restartMs: PAUSE_MS }])(
  "a task that throws is rejected, and ends neither its thread nor other tasks",
  async (timing) => {
    const { thread, told, crashes } = start(timing);
    void thread.run("slow").catch(() => {});
    const [answer] = await Promise.allSettled([thread.run("throw")]);
    expect(answer).toMatchObject({ status: "rejected", reason: { message: "failed on purpose" } });
    expect(await thread.run("fast")).toBe("tested: fast");
    expect(crashes).toEqual([]);
    expect(count(told, "throw")).toBe("restartMs" in timing ? 2 : 1);
    expect(thread.load).toBe(1);
  },
);

test("a thread that is drained finishes its work, and is not started again", async () => {
  const { thread, told, crashes } = start({ restartMs: PAUSE_MS });
  await thread.drain(LONG_MS);
  expect(told).toEqual(["started", "stopping"]);
  // A crash is told right before its thread is started again.
  expect(crashes).toEqual([]);
});

test("a thread that is drained between a crash and its restart ends at once", async () => {
  const { thread, crashes, until } = start({ restartMs: LONG_MS });
  void thread.run("crash").catch(() => {});
  await until(() => crashes.length === 1);
  await thread.drain(LONG_MS);
  expect(thread.hasEnded).toBe(true);
});

test("a thread without tasks ends when its time is over, and one with a task does not", async () => {
  jest.useFakeTimers();
  const idle = start({ idleMs: PAUSE_MS });
  const busy = start({ idleMs: PAUSE_MS });
  await busy.thread.run("fast");
  void busy.thread.run("slow").catch(() => {});
  await idle.thread.run("fast");
  await advance(PAUSE_MS - 1);
  expect([idle.thread.hasEnded, busy.thread.hasEnded]).toEqual([false, false]);
  await advance(1);
  expect([idle.thread.hasEnded, busy.thread.hasEnded]).toEqual([true, false]);
});
