import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { listen } from "../../../src/http/listen.ts";
import { DRAIN_REQUESTS_MS } from "../../../src/shared/limits.ts";

const CLIENTS = 20;

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

test("a drain answers every request that was sent before it began, and accepts no connection after", async () => {
  const listener = listen("127.0.0.1", 0, (port) => `http://127.0.0.1:${port}`);
  const release = Promise.withResolvers<void>();
  listener.use(async () => {
    await release.promise;
    return new Response("done");
  });
  const sockets = await Promise.all(
    Array.from({ length: CLIENTS }, () => connected(listener.port)),
  );
  const answers = sockets.map(answerOf);
  for (const socket of sockets) socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const drained = listener.drain(DRAIN_REQUESTS_MS);
  setTimeout(release.resolve, 300);
  for (const answer of await Promise.all(answers)) {
    expect(answer).toStartWith("HTTP/1.1 200");
    expect(answer.toLowerCase()).toContain("connection: close");
  }
  await drained;
  await expect(connected(listener.port)).rejects.toThrow();
  for (const socket of sockets) socket.destroy();
});
