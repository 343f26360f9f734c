import { describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { DRAIN_REQUESTS_MS } from "../../../src/domain/limits.ts";
import { Problem } from "../../../src/domain/problem/problem.ts";
import { listen } from "../../../src/http/listen.ts";
import type { Log } from "../../../src/ops/observability/log.ts";
import { advance, useFakeClock } from "../../../support/fake-clock.ts";

const CLIENTS = 20;

function world(corsOrigins: readonly string[] = []) {
  const lines: object[] = [];
  const log = { error: (line: object) => lines.push(line) } as unknown as Log;
  const baseUrlOf = (port: number) => `http://127.0.0.1:${port}`;
  return { listener: listen({ host: "127.0.0.1", port: 0, baseUrlOf, log, corsOrigins }), lines };
}

async function connected(port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(port, "127.0.0.1", resolve).on("error", reject);
  await promise;
  return socket;
}

/** Everything that the other side sends until it closes, or the error. */
function answerOf(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes;
    if (text.endsWith("done")) resolve(text);
  });
  socket.on("error", (error) => resolve(String(error)));
  socket.on("close", () => resolve(text));
  return promise;
}

describe("a drain", () => {
  useFakeClock();

  test("a drain answers every request that was sent before it began, and accepts no connection after", async () => {
    const { listener } = world();
    const [arrival, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let arrived = 0;
    listener.use(async () => {
      if (++arrived === CLIENTS) arrival.resolve();
      await release.promise;
      return new Response("done");
    });
    const sockets = await Promise.all(
      Array.from({ length: CLIENTS }, () => connected(listener.port)),
    );
    const answers = sockets.map(answerOf);
    for (const socket of sockets) socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const drained = listener.drain(DRAIN_REQUESTS_MS);
    await arrival.promise;
    // By now it accepts no connection, and waits for the answers.
    await advance(DRAIN_REQUESTS_MS / 2);
    release.resolve();
    for (const answer of await Promise.all(answers)) {
      expect(answer).toStartWith("HTTP/1.1 200");
      expect(answer.toLowerCase()).toContain("connection: close");
    }
    await advance(DRAIN_REQUESTS_MS);
    await drained;
    await expect(connected(listener.port)).rejects.toThrow();
    for (const socket of sockets) socket.destroy();
  });
});

test("whatever the application throws is answered with a problem, whose cause is in the log", async () => {
  const { listener, lines } = world();
  const broken: Record<string, () => never> = {
    "/error": () => {
      throw new Error("a cause that callers must not see");
    },
    "/null": () => {
      throw null;
    },
    "/detached": () => {
      const bytes = new Uint8Array(1);
      bytes.buffer.transfer(0);
      throw new Response(bytes);
    },
  };
  const sent = new Response("one that was sent before");
  await sent.text();
  listener.use(async ({ url }) => broken[new URL(url).pathname]?.() ?? sent);
  const origin = `http://127.0.0.1:${listener.port}`;
  for (const path of [...Object.keys(broken), "/sent"]) {
    const response = await fetch(origin + path);
    expect(response.status, path).toBe(500);
    expect(response.headers.get("content-type"), path).toBe("application/problem+json");
    const requestId = response.headers.get("x-request-id");
    const text = await response.text();
    expect(JSON.parse(text), path).toMatchObject({
      slug: "internal-error",
      type: `${origin}/errors/internal-error`,
      instance: `urn:request:${requestId}`,
    });
    expect(text, path).not.toContain("cause");
    expect(lines.at(-1), path).toMatchObject({ requestId, slug: "internal-error" });
  }
  await listener.drain(DRAIN_REQUESTS_MS);
});

test("a page of an allowed origin can read why it is refused, also while the service starts, and no other page", async () => {
  const page = "https://app.example.com";
  const { listener } = world([page]);
  const refuse = async (path: string, origin: string) => {
    const url = `http://127.0.0.1:${listener.port}${path}`;
    const { status, headers } = await fetch(url, { headers: { origin } });
    return [status, headers.get("access-control-allow-origin")];
  };
  expect(await refuse("/readyz", page)).toEqual([503, page]);
  expect(await refuse("/readyz", "https://other.example.com")).toEqual([503, null]);
  listener.use(() => {
    throw new Problem("route-not-found");
  });
  expect(await refuse("/projects", page)).toEqual([404, page]);
  expect(await refuse("/projects", "https://other.example.com")).toEqual([404, null]);
  await listener.drain(DRAIN_REQUESTS_MS);
});
