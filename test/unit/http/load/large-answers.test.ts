import { describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { responseOf, UnsentAnswers } from "../../../../src/http/load/large-answers.ts";
import { OVERLOADED } from "../../../../src/problem/problem.ts";
import { ANSWER_PIECE_BYTES } from "../../../../src/shared/limits.ts";
import { onCleanup } from "../../../../support/cleanup.ts";
import { until } from "../../../../support/until.ts";

const atOnce = () => undefined;

/** What neither socket buffers nor the server's own take. */
const LARGE = 16_000_000;
const LETTER = 0x7a;
const MAX_BYTES = 3 * LARGE;

/** A server whose path is the holder and the length of the answer: /holder/length. */
function serverWith(answers: UnsentAnswers, kind: "text" | "bytes" = "bytes") {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    async fetch(request) {
      const [, holder = "", length = ""] = new URL(request.url).pathname.split("/");
      const body =
        kind === "bytes" ? new Uint8Array(Number(length)).fill(LETTER) : "ä".repeat(Number(length));
      try {
        const response = responseOf(body, { headers: { "x-test": "kept" } });
        answers.hold(response, holder);
        return response;
      } catch (error) {
        if (error !== OVERLOADED) throw error;
        return new Response(null, { status: 503 });
      }
    },
  });
  onCleanup(() => server.stop(true));
  return server.url.origin;
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
      const answers = new UnsentAnswers(atOnce, MAX_BYTES);
      const url = serverWith(answers, kind);
      for (const length of [0, 1, ANSWER_PIECE_BYTES, ANSWER_PIECE_BYTES + 1, LARGE / 4]) {
        const response = await fetch(`${url}/a/${length}`);
        expect(response.headers.get("x-test")).toBe("kept");
        const text = await response.text();
        expect(text === (kind === "text" ? "ä" : "z").repeat(length)).toBeTrue();
      }
      await until(() => answers.bytes === 0);
    },
  );

  test("counts until it has been sent, also to a client that leaves, and not for HEAD", async () => {
    const answers = new UnsentAnswers(atOnce, MAX_BYTES);
    const url = serverWith(answers);
    const [reader, leaver] = [await askFor(url, `/a/${LARGE}`), await askFor(url, `/a/${LARGE}`)];
    await until(() => answers.bytes === 2 * LARGE);
    leaver.socket.destroy();
    await until(() => answers.bytes === LARGE);
    expect(await reader.rest()).toBe(LARGE);
    await until(() => answers.bytes === 0);
    expect((await fetch(`${url}/a/${LARGE}`, { method: "HEAD" })).status).toBe(200);
    await until(() => answers.bytes === 0);
  });
});

describe("clients that do not read", () => {
  test("are refused when they hold the most, and another user's answer cuts off their oldest", async () => {
    const answers = new UnsentAnswers(atOnce, MAX_BYTES);
    const url = serverWith(answers);
    const held: Reader[] = [];
    for (let i = 1; i <= 3; i++) {
      held.push(await askFor(url, `/greedy/${LARGE}`));
      await until(() => answers.bytes === i * LARGE);
    }
    expect((await fetch(`${url}/greedy/${LARGE}`)).status).toBe(503);
    // Small ones are not held.
    expect((await fetch(`${url}/greedy/10`)).status).toBe(200);
    const modest = await fetch(`${url}/modest/${LARGE}`);
    expect((await modest.arrayBuffer()).byteLength).toBe(LARGE);
    const [oldest, ...others] = held.map((reader) => reader.rest());
    expect(await oldest).toBeLessThan(LARGE);
    for (const other of await Promise.all(others)) expect(other).toBe(LARGE);
    await until(() => answers.bytes === 0);
  });

  test("do not keep an answer that is larger than all space from being sent", async () => {
    const answers = new UnsentAnswers(atOnce, LARGE);
    const url = serverWith(answers);
    const response = await fetch(`${url}/a/${2 * LARGE}`);
    expect((await response.arrayBuffer()).byteLength).toBe(2 * LARGE);
    await until(() => answers.bytes === 0);
  });
});
