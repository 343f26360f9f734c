import { describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { joined } from "../../../../native/owned-bytes.ts";
import { ANSWER_PIECE_BYTES } from "../../../../src/domain/limits.ts";
import { OVERLOADED } from "../../../../src/domain/problem/problem.ts";
import { type Gates, openGates } from "../../../../src/http/load/gates.ts";
import {
  holdUntilSent,
  responseInPieces,
  responseOf,
  sharedResponse,
} from "../../../../src/http/load/large-answers.ts";
import type { Log } from "../../../../src/ops/observability/log.ts";
import { onCleanup } from "../../../../support/cleanup.ts";
import { until } from "../../../../support/until.ts";

/** Gates whose requests may take this much memory. */
const gatesOf = (maxBytes = MAX_BYTES) => openGates({ refuses: () => false }, { maxBytes });

/** The lines of a log of errors. */
function logOf(lines: unknown[]): Log {
  return { error: (line: unknown) => lines.push(line) } as unknown as Log;
}

const SILENT = logOf([]);

/** What neither socket buffers nor the server's own take. */
const LARGE = 16_000_000;
const LETTER = 0x7a;
const MAX_BYTES = 3 * LARGE;

/** Resolves once so many bytes are being sent. */
const holds = ({ memory }: Gates, bytes: number) =>
  until(`${bytes} bytes are being sent`, () => memory.total === bytes);

function serverOf(fetch: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, development: false, fetch });
  onCleanup(() => server.stop(true));
  return server.url.origin;
}

const letters = (length: number) => new Uint8Array(length).fill(LETTER);

/** A server whose path is the holder and the length of the answer: /holder/length. */
function serverWith(gates: Gates, kind: "text" | "bytes" = "bytes") {
  return serverOf((request) => {
    const [, holder = "", length = ""] = new URL(request.url).pathname.split("/");
    const size = Number(length);
    const body = kind === "bytes" ? joined([letters(size)]) : "ä".repeat(size);
    try {
      const response = responseOf(body, { headers: { "x-test": "kept" } });
      holdUntilSent(response, holder, { gates, log: SILENT });
      return response;
    } catch (error) {
      if (error !== OVERLOADED) throw error;
      return new Response(null, { status: 503 });
    }
  });
}

interface Reader {
  readonly socket: Socket;
  /** Reads from now on; resolves with the letters of the body that arrive until the connection ends. */
  rest(): Promise<number>;
}

/** Asks for an answer and does not read it. */
async function askFor(url: string, path: string, method = "GET"): Promise<Reader> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  let letters = 0;
  let hasBody = false;
  socket.on("data", (part: Buffer) => {
    const body = hasBody ? part : part.subarray(part.indexOf("\r\n\r\n"));
    hasBody = true;
    // The sizes of the chunks have none of them.
    letters += body.filter((byte) => byte === LETTER).length;
  });
  socket.on("error", () => {});
  const closed = new Promise<number>((resolve) => socket.on("close", () => resolve(letters)));
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  onCleanup(() => void socket.destroy());
  return {
    socket,
    rest() {
      socket.resume();
      return closed;
    },
  };
}

describe("a large answer", () => {
  test.each(["text", "bytes"] as const)(
    "of %s arrives whole, as a small one does",
    async (kind) => {
      const gates = gatesOf();
      const url = serverWith(gates, kind);
      for (const length of [0, 1, ANSWER_PIECE_BYTES, ANSWER_PIECE_BYTES + 1, LARGE / 4]) {
        const response = await fetch(`${url}/a/${length}`);
        expect(response.headers.get("x-test")).toBe("kept");
        const text = await response.text();
        expect(text === (kind === "text" ? "ä" : "z").repeat(length)).toBeTrue();
      }
      await holds(gates, 0);
    },
  );

  test("counts until it has been sent, also to a client that leaves, and not for HEAD", async () => {
    const gates = gatesOf();
    const url = serverWith(gates);
    const [reader, leaver] = [await askFor(url, `/a/${LARGE}`), await askFor(url, `/a/${LARGE}`)];
    await holds(gates, 2 * LARGE);
    leaver.socket.destroy();
    await holds(gates, LARGE);
    expect(await reader.rest()).toBe(LARGE);
    await holds(gates, 0);
    expect((await fetch(`${url}/a/${LARGE}`, { method: "HEAD" })).status).toBe(200);
    await holds(gates, 0);
  });
});

describe("clients that do not read", () => {
  test("are refused when they hold the most, and another user's answer cuts off their oldest", async () => {
    const gates = gatesOf();
    const url = serverWith(gates);
    const held: Reader[] = [];
    for (let i = 1; i <= 3; i++) {
      held.push(await askFor(url, `/greedy/${LARGE}`));
      await holds(gates, i * LARGE);
    }
    expect((await fetch(`${url}/greedy/${LARGE}`)).status).toBe(503);
    // Small ones are not held.
    expect((await fetch(`${url}/greedy/10`)).status).toBe(200);
    const modest = await fetch(`${url}/modest/${LARGE}`);
    expect((await modest.arrayBuffer()).byteLength).toBe(LARGE);
    const [oldest, ...others] = held.map((reader) => reader.rest());
    expect(await oldest).toBeLessThan(LARGE);
    for (const other of await Promise.all(others)) expect(other).toBe(LARGE);
    await holds(gates, 0);
  });

  test("do not keep an answer that is larger than all space from being sent", async () => {
    const gates = gatesOf(LARGE);
    const url = serverWith(gates);
    const response = await fetch(`${url}/a/${2 * LARGE}`);
    expect((await response.arrayBuffer()).byteLength).toBe(2 * LARGE);
    await holds(gates, 0);
  });
});

test("an answer whose turn is refused resets its connection, and holds no memory", async () => {
  for (const acquire of [
    () => {
      throw OVERLOADED;
    },
    () => Promise.reject(OVERLOADED),
  ]) {
    const { memory } = gatesOf();
    const gates = { memory, starts: { acquire } } as unknown as Gates;
    const reading = fetch(`${serverWith(gates)}/a/${LARGE}`).then((response) => response.text());
    await expect(reading).rejects.toThrow();
    await holds(gates, 0);
  }
});

describe("bytes that several answers share", () => {
  const CLIENTS = 20;

  test.each([ANSWER_PIECE_BYTES, ANSWER_PIECE_BYTES + 1, LARGE / 4])(
    "are the same after answers with %d of them, one after the other and at once",
    async (length) => {
      const gates = gatesOf();
      const body = letters(length);
      const url = serverOf((request) => {
        const response = sharedResponse(body, {});
        holdUntilSent(response, new URL(request.url).pathname, { gates, log: SILENT });
        return response;
      });
      for (const path of ["/one", "/other"]) {
        const get = async () => Buffer.from(await (await fetch(url + path)).arrayBuffer());
        await get();
        expect((await fetch(url + path, { method: "HEAD" })).status).toBe(200);
        const all = await Promise.all(Array.from({ length: CLIENTS }, get));
        for (const received of all) expect(received.equals(letters(length))).toBeTrue();
      }
      await until("every answer has been sent", () => gates.memory.total === 0);
      expect(body.buffer.detached).toBeFalse();
    },
  );

  test("cannot be given away: only memory that a renderer has made has that type", () => {
    const bytes = joined([letters(3)]);
    const refused = [
      // @ts-expect-error anything may refer to this memory
      () => responseOf(letters(3), {}),
      // @ts-expect-error a part has the memory of the whole
      () => responseOf(bytes.subarray(1), {}),
      // @ts-expect-error a buffer of Node may be a part of a pool
      () => responseOf(Buffer.from("zzz"), {}),
    ];
    expect(refused).toHaveLength(3);
    responseOf(bytes, {});
    expect(bytes.buffer.detached).toBeTrue();
  });
});

test("an answer whose making fails midway resets its connection, is in the log, and holds no memory", async () => {
  const lines: unknown[] = [];
  const failure = new Error("the making failed");
  function* pieces() {
    yield letters(1);
    throw failure;
  }
  const gates = gatesOf();
  const url = serverOf(() => {
    const response = responseInPieces(pieces(), LARGE, { headers: { "x-request-id": "mine" } });
    holdUntilSent(response, "tenant", { gates, log: logOf(lines) });
    return response;
  });
  const reading = fetch(url).then((response) => response.text());
  await expect(reading).rejects.toThrow();
  expect(lines).toEqual([{ requestId: "mine", err: failure }]);
  expect(gates.memory.total).toBe(0);
});
