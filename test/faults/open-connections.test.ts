import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { untilReady } from "../../support/api/world.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { startServer } from "../../support/processes/process.ts";
import { RawClient } from "../../support/raw-client.ts";
import { until } from "../../support/until.ts";

const OPEN_FILES = 256;
const CONNECTIONS = 2 * OPEN_FILES;
/** Requests while no descriptor is left, with pauses between them. */
const REQUESTS = 8;
const PAUSE_MS = 250;

test("connections that use up all descriptors neither end PostgreSQL nor the service, and are forgotten", async () => {
  const server = await startServer({ openFiles: OPEN_FILES });
  const pidFile = join(server.dataDir, "postgres", "cluster", "postmaster.pid");
  const port = Number(new URL(server.url).port);
  const earlier = new RawClient(new URL(server.url));
  onCleanup(() => earlier.close());
  const request = Buffer.from("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const ready = async () => (await earlier.send(request)).status;
  await until("the service is ready", async () => (await ready()) === 200);
  const postgres = readFileSync(pidFile, "utf8");

  const sockets: Socket[] = Array.from({ length: CONNECTIONS }, () => connect(port, "127.0.0.1"));
  for (const socket of sockets) socket.on("error", () => {});
  const closeAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  onCleanup(closeAll);
  for (let request = 0; request < REQUESTS; request++) {
    // A connection to PostgreSQL that was not open before cannot be opened now.
    expect([200, 503]).toContain(await ready());
    await Bun.sleep(PAUSE_MS);
  }

  closeAll();
  await untilReady(server.url);
  expect(readFileSync(pidFile, "utf8")).toBe(postgres);
  expect(server.logs()).not.toContain("ended unexpectedly");
});
