import { describe, expect, jest, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { BODY_MIN_BYTES, LARGE_BODY_BYTES } from "../../../../src/domain/limits.ts";
import { Problem } from "../../../../src/domain/problem/problem.ts";
import { BodyReader } from "../../../../src/http/load/body.ts";
import { openGates } from "../../../../src/http/load/gates.ts";
import { onCleanup } from "../../../../support/cleanup.ts";
import { advance, turns, useFakeClock } from "../../../../support/fake-clock.ts";
import { until } from "../../../../support/until.ts";

const MAX_BODY = 1_000_000;

/** A reader of bodies, and the memory that these count in. */
function reader(options: { maxBytes?: number; timeoutMs?: number } = {}) {
  const gates = openGates({ refuses: () => false }, options);
  return Object.assign(new BodyReader(gates, options.timeoutMs), { memory: gates.memory });
}

type Reader = ReturnType<typeof reader>;

/** A server that reads bodies for the holder that the path names, and answers with their length. */
function serverWith(intake: Reader) {
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

/** Resolves once the bodies that are being read count with so many bytes. */
const counts = (intake: Reader, bytes: number) =>
  until(`the bodies count with ${bytes} bytes`, () => intake.memory.total === bytes);

/** A request with a body in pieces, each of which is sent once it is asked for. */
function inPieces() {
  const pieces: PromiseWithResolvers<number>[] = [];
  const piece = (at: number) => {
    pieces[at] ??= Promise.withResolvers<number>();
    return pieces[at];
  };
  let [asked, sent, isCancelled] = [0, 0, false];
  const stream = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      const bytes = await piece(asked++).promise;
      if (bytes === 0) controller.close();
      else controller.enqueue(new Uint8Array(bytes));
    },
    cancel() {
      isCancelled = true;
    },
  };
  const body = new ReadableStream<Uint8Array>(stream, { highWaterMark: 0 });
  const send = (bytes: number) => piece(sent++).resolve(bytes);
  return {
    request: new Request("http://host/", { method: "POST", body }),
    send,
    end: () => send(0),
    /** Resolves once so many pieces were asked for, or nobody asks any more. */
    asked: (times: number) =>
      until(`${times} pieces are asked for`, () => isCancelled || asked >= times),
  };
}

test("bodies with a length, in chunks and without content are read whole", async () => {
  const intake = reader();
  const port = serverWith(intake);
  const sized = await send(port, "a", "Content-Length: 5", "ab");
  await counts(intake, BODY_MIN_BYTES);
  sized.write("cde");
  expect(await sized.answer).toEndWith("5");
  const chunked = await send(port, "a", "Transfer-Encoding: chunked", "2\r\nab\r\n");
  chunked.write("3\r\ncde\r\n0\r\n\r\n");
  expect(await chunked.answer).toEndWith("5");
  expect(await (await send(port, "a", "Content-Length: 0")).answer).toEndWith("0");
  expect(intake.memory.total).toBe(0);
});

test("a body that does not arrive in time is answered with 408, and its connection is closed", async () => {
  const intake = reader({ maxBytes: MAX_BODY, timeoutMs: 100 });
  const port = serverWith(intake);
  for (const header of ["Content-Length: 100", "Transfer-Encoding: chunked"]) {
    const { answer, socket } = await send(port, "a", header, "1\r\n");
    expect(await answer).toMatch(/^HTTP\/1.1 408 .*request-timeout$/s);
    await until("the connection is closed", () => socket.destroyed || socket.readyState !== "open");
  }
  expect(intake.memory.total).toBe(0);
});

test("the caller that holds most of the budget loses its oldest body when another needs the space", async () => {
  const intake = reader({ maxBytes: 4 * 100_000, timeoutMs: 60_000 });
  const port = serverWith(intake);
  const held: Sender[] = [];
  for (let i = 1; i <= 4; i++) {
    held.push(await send(port, "greedy", "Content-Length: 100000", "x"));
    await counts(intake, i * 100_000);
  }
  const another = await send(port, "greedy", "Content-Length: 100000", "x");
  expect(await another.answer).toMatch(/^HTTP\/1.1 503 .*overloaded$/s);
  const modest = await send(port, "modest", "Content-Length: 100000", "x");
  expect(await (held[0] as Sender).answer).toMatch(/^HTTP\/1.1 503 .*overloaded$/s);
  modest.write("y".repeat(99_999));
  expect(await modest.answer).toEndWith("100000");
  // The others were left alone.
  expect(intake.memory.total).toBe(300_000);
  for (const { socket } of held) socket.destroy();
  await counts(intake, 0);
});

test("a chunked body counts with what has arrived, and is refused beyond the limit", async () => {
  const intake = reader();
  const port = serverWith(intake);
  const chunk = "x".repeat(0x10000);
  const sender = await send(port, "a", "Transfer-Encoding: chunked", `10000\r\n${chunk}\r\n`);
  await counts(intake, 0x10000);
  for (let i = 0; i < 16; i++) sender.write(`10000\r\n${chunk}\r\n`);
  expect(await sender.answer).toMatch(/^HTTP\/1.1 413 .*payload-too-large$/s);
  expect(intake.memory.total).toBe(0);
});

test("a body whose declared length is beyond the limit is refused before it arrives", async () => {
  const intake = reader({ maxBytes: 4 * MAX_BODY, timeoutMs: 1_000 });
  const port = serverWith(intake);
  const { answer } = await send(port, "a", `Content-Length: ${MAX_BODY + 1}`, "x");
  expect(await answer).toMatch(/^HTTP\/1.1 413 .*payload-too-large$/s);
  expect(intake.memory.total).toBe(0);
});

test("a body that was refused is read no further, and counts with nothing", async () => {
  const intake = reader({ maxBytes: 100_000, timeoutMs: 600_000 });
  const greedy = inPieces();
  const refused = intake.read(greedy.request, MAX_BODY, "greedy").catch((error) => error);
  greedy.send(60_000);
  await counts(intake, 60_000);
  const modest = inPieces();
  const read = intake.read(modest.request, MAX_BODY, "modest");
  modest.send(50_000);
  expect(await refused).toMatchObject({ slug: "overloaded" });
  greedy.send(10_000);
  // The reader takes the piece and leaves, or asks for another one.
  await greedy.asked(3);
  expect(intake.memory.total).toBe(50_000);
  modest.end();
  expect((await read).byteLength).toBe(50_000);
});

test("an upload that is broken off frees its bytes and means a fault of the caller", async () => {
  const intake = reader();
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
    await counts(intake, BODY_MIN_BYTES);
    socket.destroy();
    await until("the read has failed", () => failure !== undefined);
    expect(failure).toBeInstanceOf(Problem);
    expect((failure as Problem).slug).toBe("validation-failed");
    expect(intake.memory.total).toBe(0);
  }
});

describe("large bodies", () => {
  useFakeClock();
  const BLOCKED_MS = 10;
  const post = (bytes: number) =>
    new Request("http://host/", { method: "POST", body: new Uint8Array(bytes) });

  /** Takes up a body, which keeps the thread busy. */
  async function take(intake: Reader, bytes: number, tenant: string) {
    await intake.read(post(bytes), MAX_BODY, tenant);
    jest.advanceTimersByTime(BLOCKED_MS);
  }

  /** Milliseconds until five bodies of one tenant have been taken up, which they are in order. */
  async function timeOfFive(intake: Reader): Promise<number> {
    const begun = performance.now();
    const taken: number[] = [];
    let endedAt = begun;
    const all = Array.from({ length: 5 }, async (_, body) => {
      await take(intake, LARGE_BODY_BYTES, "heavy");
      taken.push(body);
      endedAt = performance.now();
    });
    // Without pauses all are taken up before time passes.
    await turns(64);
    // The pause behind the last one begins then.
    await advance(4 * 4 * BLOCKED_MS);
    await Promise.all(all);
    expect(taken).toEqual([0, 1, 2, 3, 4]);
    return endedAt - begun;
  }

  test("of one tenant are taken up one at a time and leave most of the time to others", async () => {
    const intake = reader();
    await intake.read(post(1), MAX_BODY, "other");
    // Four pauses of four times as long as each body has taken, besides the bodies themselves.
    expect(await timeOfFive(intake)).toBe((5 + 4 * 4) * BLOCKED_MS);
  });

  test("of a tenant that is alone are not kept waiting for others", async () => {
    expect(await timeOfFive(reader())).toBe(5 * BLOCKED_MS);
  });

  test("of one tenant rest for three seconds at most, however long one has kept the thread busy", async () => {
    const intake = reader();
    await intake.read(post(1), MAX_BODY, "other");
    await intake.read(post(LARGE_BODY_BYTES), MAX_BODY, "heavy");
    jest.advanceTimersByTime(900);
    await intake.read(post(1), MAX_BODY, "other");
    await turns();
    jest.advanceTimersByTime(1_500);
    let isTaken = false;
    const next = take(intake, LARGE_BODY_BYTES, "heavy").then(() => {
      isTaken = true;
    });
    await advance(1_499);
    expect(isTaken).toBe(false);
    await advance(1);
    await next;
  });

  test("of one tenant keep neither small ones nor those of another waiting", async () => {
    const intake = reader();
    const order: string[] = [];
    const taken = async (name: string, bytes: number, tenant: string) => {
      await take(intake, bytes, tenant);
      order.push(name);
    };
    const all = [
      taken("first", LARGE_BODY_BYTES, "heavy"),
      taken("second", LARGE_BODY_BYTES, "heavy"),
      taken("small", LARGE_BODY_BYTES - 1, "heavy"),
      taken("another's", LARGE_BODY_BYTES, "other"),
    ];
    await advance(4 * BLOCKED_MS * all.length);
    await Promise.all(all);
    expect(order.at(-1)).toBe("second");
  });

  test("of a client that has left before its turn are not taken up", async () => {
    const intake = reader();
    await intake.read(post(1), MAX_BODY, "other");
    await timeOfFive(intake);
    const client = new AbortController();
    const init = { method: "POST", body: new Uint8Array(LARGE_BODY_BYTES) };
    const left = new Request("http://host/", { ...init, signal: client.signal });
    const read = intake.read(left, MAX_BODY, "heavy").catch((error: unknown) => error);
    client.abort();
    await advance(4 * BLOCKED_MS);
    expect(await read).toBeInstanceOf(Problem);
  });

  test("that have waited for two seconds are refused with a reason", async () => {
    const intake = reader();
    await intake.read(post(1), MAX_BODY, "other");
    await intake.read(post(LARGE_BODY_BYTES), MAX_BODY, "heavy");
    // The pause behind it is longer than that.
    jest.advanceTimersByTime(600);
    await intake.read(post(1), MAX_BODY, "other");
    let refused: unknown;
    void intake.read(post(LARGE_BODY_BYTES), MAX_BODY, "heavy").catch((error: unknown) => {
      refused = error;
    });
    await advance(1_999);
    expect(refused).toBeUndefined();
    await advance(1);
    expect((refused as Problem).slug).toBe("overloaded");
    expect((refused as Problem).message).toContain("large bodies");
  });

  test("and small ones that their operation admits count until it has, and wait for nothing else", async () => {
    const intake = reader();
    for (const bytes of [1, LARGE_BODY_BYTES]) {
      const { promise: admitted, resolve } = Promise.withResolvers<void>();
      const uptake = {
        admit(length: number) {
          expect(length).toBe(bytes);
          return admitted;
        },
      };
      const read = intake.read(post(bytes), MAX_BODY, "heavy", uptake);
      await turns();
      expect(intake.memory.total).toBeGreaterThanOrEqual(bytes);
      resolve();
      expect((await read).byteLength).toBe(bytes);
      expect(intake.memory.total).toBe(0);
    }
    const refused = { admit: () => Promise.reject(new Problem("overloaded")) };
    await expect(intake.read(post(1), MAX_BODY, "heavy", refused)).rejects.toThrow();
  });
});

describe("bodies that take a millisecond to parse", () => {
  const LONG = 20_000;
  const post = () => new Request("http://host/", { method: "POST", body: new Uint8Array(LONG) });

  test("of one tenant are parsed one in a turn of the event loop, and those of another in the same turn", async () => {
    const intake = reader();
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
    const intake = reader();
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
