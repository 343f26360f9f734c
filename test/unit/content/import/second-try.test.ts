import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { withSecondTry } from "../../../../src/embed/embedders/transport.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const TIMEOUT_MS = 4_000;

async function pass(ms: number): Promise<void> {
  await settle();
  jest.advanceTimersByTime(ms);
  await settle();
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

/** Sends a request whose tries the test answers. */
function request(
  pauseOf: (error: unknown) => number | undefined = () => 0,
  timeoutMs: number = TIMEOUT_MS,
) {
  const tries: (PromiseWithResolvers<string> & { readonly timeoutMs: number })[] = [];
  const send = (timeoutMs: number) => {
    const answer = { ...Promise.withResolvers<string>(), timeoutMs };
    tries.push(answer);
    return answer.promise;
  };
  const result = withSecondTry(send, timeoutMs, pauseOf);
  result.catch(() => {});
  return { tries, result };
}

test("a request that succeeds is sent once", async () => {
  const { tries, result } = request();
  await pass(1_499);
  tries[0]?.resolve("one");
  expect(await result).toBe("one");
  await pass(TIMEOUT_MS);
  expect(tries).toHaveLength(1);
});

test("a request that fails is sent again after a pause, with the time that is left", async () => {
  const { tries, result } = request();
  await pass(500);
  tries[0]?.reject(new Error("first"));
  await pass(99);
  expect(tries).toHaveLength(1);
  await pass(1);
  expect(tries.map(({ timeoutMs }) => timeoutMs)).toEqual([TIMEOUT_MS, TIMEOUT_MS - 600]);
  tries[1]?.resolve("two");
  expect(await result).toBe("two");
});

test("a request that is late is sent again, and the first success counts", async () => {
  for (const winner of [0, 1]) {
    const { tries, result } = request();
    await pass(1_500);
    expect(tries).toHaveLength(2);
    tries[1 - winner]?.reject(new Error("down"));
    await pass(0);
    tries[winner]?.resolve(`try ${winner}`);
    expect(await result).toBe(`try ${winner}`);
  }
});

test("a request that is late at the end of its time is not sent again", async () => {
  const { tries, result } = request(() => 0, 1_500);
  await pass(1_500);
  tries[0]?.resolve("one");
  expect(await result).toBe("one");
  expect(tries).toHaveLength(1);
});

test("two failures are one, with the reason of the last try", async () => {
  const { tries, result } = request();
  tries[0]?.reject(new Error("first"));
  await pass(100);
  tries[1]?.reject(new Error("second"));
  await expect(result).rejects.toThrow("second");
  await pass(TIMEOUT_MS);
  expect(tries).toHaveLength(2);
});

test("a request that would fail again is not repeated, nor one without time for it", async () => {
  for (const pause of [undefined, TIMEOUT_MS]) {
    const { tries, result } = request(() => pause);
    tries[0]?.reject(new Error("first"));
    await expect(result).rejects.toThrow("first");
    await pass(TIMEOUT_MS);
    expect(tries).toHaveLength(1);
  }
});

test("a pause that the first answer asks for is kept", async () => {
  for (const pause of [1_000, 2_500]) {
    const { tries, result } = request(() => pause);
    tries[0]?.reject(new Error("first"));
    await pass(pause - 1);
    expect(tries).toHaveLength(1);
    await pass(1);
    tries[1]?.resolve("two");
    expect(await result).toBe("two");
  }
});
