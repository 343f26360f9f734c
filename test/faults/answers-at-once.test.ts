import { expect, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import { onCleanup } from "../../support/cleanup.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { CONNECTIONS } from "./answers-at-once.ts";

/** A fifth of the usual stack, so that a fifth of the connections shows what fills it. */
const STACK_BYTES = 1_000_000;
const BODY = "x".repeat(4_096);
const REQUEST = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

/** A listener that answers requests of all connections at once, without having read their bodies. */
async function startListener() {
  const program = Bun.spawn([process.execPath, join(import.meta.dir, "answers-at-once.ts")], {
    cwd: PROJECT_ROOT,
    env: { ...process.env, BUN_JSC_maxPerThreadStackUsage: String(STACK_BYTES) },
    stdout: "pipe",
    stderr: "pipe",
  });
  onCleanup(() => program.kill("SIGKILL"));
  const { value } = await program.stdout.getReader().read();
  return { port: Number(new TextDecoder().decode(value)), program };
}

/** The status that a connection is answered with; undefined if it ends before. */
function statusOn(port: number): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const socket = connect(port, "127.0.0.1", () => socket.write(REQUEST));
  socket.on("data", (bytes) => resolve(Number(bytes.toString("latin1").split(" ")[1])));
  socket.on("error", () => resolve(undefined)).on("close", () => resolve(undefined));
  onCleanup(() => void socket.destroy());
  return promise;
}

test("requests of many connections that are refused at once, unread, are all answered", async () => {
  const { port, program } = await startListener();
  const statuses = await Promise.all(Array.from({ length: CONNECTIONS }, () => statusOn(port)));
  expect(statuses.filter((status) => status === 503)).toHaveLength(CONNECTIONS);
  program.kill("SIGTERM");
  expect(await new Response(program.stderr).text()).toBe("");
});
