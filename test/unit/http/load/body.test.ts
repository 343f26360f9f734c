import { describe, expect, spyOn, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { BodyIntake } from "../../../../src/http/load/body.ts";
import { Problem } from "../../../../src/problem/problem.ts";
import {
  BODY_MIN_BYTES,
  BODY_READ_TIMEOUT_MS,
  LARGE_BODY_BYTES,
} from "../../../../src/shared/limits.ts";
import { onCleanup } from "../../../../support/cleanup.ts";

const MAX_BODY = 1_000_000;

/** A server that reads bodies for the holder that the path names, and answers with their length. */
function serverWith(intake: BodyIntake) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      try {
        const holder = new URL(request.url).pathname;
        const body = await intake.read(request, MAX_BODY, holder);
        return new Response(String(body.byteLength));
      } catch (error) {
        const { slug, type, options } = error as Problem;
        return new Response(slug, { status: type.status, headers: options.headers ?? {} });
      }
    },
  });
  onCleanup(() => server.stop(true));
  return server.port as number;
}

interface Sender {
  readonly socket: Socket;
  /** The response, or what arrived before the connection was closed. */
  readonly answer: Promise<string>;
  write(text: string): void;
}

/** Sends the head of a request and the beginning of its body. */
async function send(port: number, holder: string, header: string, body = ""): Promise<Sender> {
  const opened = Promise.withResolvers<void>();
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = connect(port, "127.0.0.1", opened.resolve);
  socket.on("data", (bytes) => {
    text += bytes;
    if (/\r\n\r\n./s.test(text)) resolve(text);
  });
  socket.on("close", () => resolve(text));
  socket.on("error", (error) => resolve(String(error)));
  await opened.promise;
  const write = (part: string) => socket.write(part);
  write(`POST /${holder} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n${body}`);
  return { socket, answer: promise, write };
}

async function until(condition: () => boolean): Promise<void> {
  for (const end = Date.now() + 5_000; !condition() && Date.now() < end; ) await Bun.sleep(5);
  expect(condition()).toBeTrue();
}

test("bodies with a length, in chunks and without content are read whole", async () => {
  const intake = new BodyIntake();
  const port = serverWith(intake);
  const sized = await send(port, "a", "Content-Length: 5", "ab");
  await until(() => intake.bytes === BODY_MIN_BYTES);
  sized.write("cde");
  expect(await sized.answer).toEndWith("5");
  const chunked = await send(port, "a", "Transfer-Encoding: chunked", "2\r\nab\r\n");
  chunked.write("3\r\ncde\r\n0\r\n\r\n");
  expect(await chunked.answer).toEndWith("5");
  expect(await (await send(port, "a", "Content-Length: 0")).answer).toEndWith("0");
  expect(intake.bytes).toBe(0);
});

test("a body that does not arrive in time is answered with 408, and its connection is closed", async () => {
  const intake = new BodyIntake(MAX_BODY, 100);
  const port = serverWith(intake);
  for (const header of ["Content-Length: 100", "Transfer-Encoding: chunked"]) {
    const { answer, socket } = await send(port, "a", header, "1\r\n");
    expect(await answer).toMatch(/^HTTP\/1.1 408 .*request-timeout$/s);
    await until(() => socket.destroyed || socket.readyState !== "open");
  }
  expect(intake.bytes).toBe(0);
});

test("the caller that holds most of the budget loses its oldest body when another needs the space", async () => {
  const intake = new BodyIntake(4 * 100_000, 60_000);
  const port = serverWith(intake);
  const held: Sender[] = [];
  for (let i = 1; i <= 4; i++) {
    held.push(await send(port, "greedy", "Content-Length: 100000", "x"));
    await until(() => intake.bytes === i * 100_000);
  }
  const another = await send(port, "greedy", "Content-Length: 100000", "x");
  expect(await another.answer).toMatch(/^HTTP\/1.1 503 .*overloaded$/s);
  const modest = await send(port, "modest", "Content-Length: 100000", "x");
  expect(await (held[0] as Sender).answer).toMatch(/^HTTP\/1.1 503 .*overloaded$/s);
  modest.write("y".repeat(99_999));
  expect(await modest.answer).toEndWith("100000");
  // The others were left alone.
  expect(intake.bytes).toBe(300_000);
  for (const { socket } of held) socket.destroy();
  await until(() => intake.bytes === 0);
});

test("a chunked body counts with what has arrived, and is refused beyond the limit", async () => {
  const intake = new BodyIntake();
  const port = serverWith(intake);
  const chunk = "x".repeat(0x10000);
  const sender = await send(port, "a", "Transfer-Encoding: chunked", `10000\r\n${chunk}\r\n`);
  await until(() => intake.bytes === 0x10000);
  for (let i = 0; i < 16; i++) sender.write(`10000\r\n${chunk}\r\n`);
  expect(await sender.answer).toMatch(/^HTTP\/1.1 413 .*payload-too-large$/s);
  expect(intake.bytes).toBe(0);
});

test("an upload that is broken off frees its bytes and means a fault of the caller", async () => {
  const intake = new BodyIntake();
  let failure: unknown;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      failure = await intake.read(request, MAX_BODY, "a").catch((error) => error);
      return new Response();
    },
  });
  onCleanup(() => server.stop(true));
  for (const header of ["Content-Length: 100", "Transfer-Encoding: chunked"]) {
    failure = undefined;
    const { socket } = await send(server.port as number, "a", header, "1\r\nx\r\n");
    await until(() => intake.bytes === BODY_MIN_BYTES);
    socket.destroy();
    await until(() => failure !== undefined);
    expect(failure).toBeInstanceOf(Problem);
    expect((failure as Problem).slug).toBe("validation-failed");
    expect(intake.bytes).toBe(0);
  }
});

describe("large bodies", () => {
  const BLOCKED_MS = 10;
  const post = (bytes: number) =>
    new Request("http://host/", { method: "POST", body: new Uint8Array(bytes) });

  /** Milliseconds in which five bodies of one tenant are taken up, which they are in order. */
  async function timeOfFive(intake: BodyIntake): Promise<number> {
    const begun = performance.now();
    const taken: number[] = [];
    const take = async (body: number) => {
      await intake.read(post(LARGE_BODY_BYTES), MAX_BODY, "heavy");
      taken.push(body);
      for (const end = performance.now() + BLOCKED_MS; performance.now() < end; );
    };
    await Promise.all(Array.from({ length: 5 }, (_, body) => take(body)));
    expect(taken).toEqual([0, 1, 2, 3, 4]);
    const time = performance.now() - begun;
    // The last one's pause begins in the next turn of the event loop.
    await Bun.sleep(0);
    return time;
  }

  test("of one tenant are taken up one at a time and leave most of the time to others", async () => {
    const intake = new BodyIntake();
    await intake.read(post(1), MAX_BODY, "other");
    // Four pauses of four times as long as each body has taken, besides the bodies themselves.
    expect(await timeOfFive(intake)).toBeGreaterThanOrEqual((5 + 4 * 4) * BLOCKED_MS);
  });

  test("of a tenant that is alone are not kept waiting for others", async () => {
    const pauses = spyOn(globalThis, "setTimeout");
    await timeOfFive(new BodyIntake());
    const paused = pauses.mock.calls.filter(([, ms = 0]) => ms > 0 && ms < BODY_READ_TIMEOUT_MS);
    pauses.mockRestore();
    // The others have a limit to their wait for the one before, and none has a pause behind it.
    expect(paused.map(([, ms]) => ms)).toEqual([2_000, 2_000, 2_000, 2_000]);
  });

  test("of one tenant keep neither small ones nor those of another waiting", async () => {
    const intake = new BodyIntake();
    const order: string[] = [];
    const take = async (name: string, bytes: number, tenant: string) => {
      await intake.read(post(bytes), MAX_BODY, tenant);
      order.push(name);
      for (const end = performance.now() + BLOCKED_MS; performance.now() < end; );
    };
    await Promise.all([
      take("first", LARGE_BODY_BYTES, "heavy"),
      take("second", LARGE_BODY_BYTES, "heavy"),
      take("small", LARGE_BODY_BYTES - 1, "heavy"),
      take("another's", LARGE_BODY_BYTES, "other"),
    ]);
    expect(order.at(-1)).toBe("second");
  });

  test("of a client that has left before its turn are not taken up", async () => {
    const intake = new BodyIntake();
    await intake.read(post(1), MAX_BODY, "other");
    await timeOfFive(intake);
    const client = new AbortController();
    const init = { method: "POST", body: new Uint8Array(LARGE_BODY_BYTES) };
    const left = new Request("http://host/", { ...init, signal: client.signal });
    const read = intake.read(left, MAX_BODY, "heavy").catch((error: unknown) => error);
    client.abort();
    expect(await read).toBeInstanceOf(Problem);
  });

  test("that have waited for two seconds are refused with a reason", async () => {
    const intake = new BodyIntake();
    await intake.read(post(1), MAX_BODY, "other");
    await intake.read(post(LARGE_BODY_BYTES), MAX_BODY, "heavy");
    // The pause behind it is longer than that.
    for (const end = performance.now() + 600; performance.now() < end; );
    await intake.read(post(1), MAX_BODY, "other");
    const refused = await intake
      .read(post(LARGE_BODY_BYTES), MAX_BODY, "heavy")
      .catch((error: unknown) => error as Problem);
    expect((refused as Problem).slug).toBe("overloaded");
    expect((refused as Problem).message).toContain("large bodies");
  });

  test("and small ones that their operation admits count until it has, and wait for nothing else", async () => {
    const intake = new BodyIntake();
    for (const bytes of [1, LARGE_BODY_BYTES]) {
      const { promise: admitted, resolve } = Promise.withResolvers<void>();
      const uptake = {
        admit(length: number) {
          expect(length).toBe(bytes);
          return admitted;
        },
      };
      const read = intake.read(post(bytes), MAX_BODY, "heavy", uptake);
      await Bun.sleep(2 * BLOCKED_MS);
      expect(intake.bytes).toBeGreaterThanOrEqual(bytes);
      resolve();
      expect((await read).byteLength).toBe(bytes);
      expect(intake.bytes).toBe(0);
    }
    const refused = { admit: () => Promise.reject(new Problem("overloaded")) };
    expect(intake.read(post(1), MAX_BODY, "heavy", refused)).rejects.toThrow();
  });
});

describe("bodies that take a millisecond to parse", () => {
  const LONG = 20_000;
  const post = () => new Request("http://host/", { method: "POST", body: new Uint8Array(LONG) });

  test("of one tenant are taken up one in a turn of the event loop, beside those of another", async () => {
    const intake = new BodyIntake();
    const turns: Array<[string, number]> = [];
    let turn = 0;
    const count = () => {
      turn++;
      if (turns.length < 10) setImmediate(count);
    };
    setImmediate(count);
    const take = async (tenant: string) => {
      await intake.read(post(), MAX_BODY, tenant);
      turns.push([tenant, turn]);
    };
    const heavy = Array.from({ length: 9 }, () => take("heavy"));
    await Promise.all([...heavy, take("other")]);
    const own = turns.filter(([tenant]) => tenant === "heavy").map(([, each]) => each);
    expect(new Set(own).size).toBe(own.length);
    expect(turns.findIndex(([tenant]) => tenant === "other")).toBeLessThan(3);
  });

  test("that another thread parses are taken up at once", async () => {
    const intake = new BodyIntake();
    let turn = 0;
    const isParsedHere = () => false;
    const all = Array.from({ length: 9 }, async () => {
      await intake.read(post(), MAX_BODY, "heavy", { isParsedHere });
      return turn;
    });
    setImmediate(() => turn++);
    const [first] = await Promise.all(all);
    expect(await Promise.all(all)).toEqual(Array(9).fill(first));
  });
});
