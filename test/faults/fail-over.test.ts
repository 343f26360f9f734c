import { expect, test } from "bun:test";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { openDatabase } from "../../src/db/client.ts";
import { checkWrites } from "../../src/db/open.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { openOnPort } from "../../support/processes/embedded.ts";
import { folderWithCluster } from "../../support/processes/own-postgres.ts";

const CONNECTIONS = 4;
const READ_ONLY = "25006";

/** A server with the current schema; as a standby, it accepts no changes and waits for another server. */
async function startServer(kind: "primary" | "standby"): Promise<URL> {
  const folder = await folderWithCluster();
  if (kind === "standby") {
    writeFileSync(join(folder, "postgres", "cluster", "standby.signal"), "");
  }
  const server = await openOnPort(folder, { fsync: "off" });
  onCleanup(() => server.close());
  return new URL(server.url);
}

/** An address that leads to one server or another, as a name or a proxy does. It leaves connections as they are. */
async function startAddress(first: URL): Promise<{ url: string; lead(to: URL): void }> {
  let target = first;
  const listener = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    client.pipe(server).pipe(client);
    for (const [socket, peer] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on("error", () => {});
      socket.on("close", () => peer.destroy());
    }
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  onCleanup(() => void listener.close());
  const url = new URL(first.href);
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url: url.href,
    lead(to) {
      target = to;
    },
  };
}

test("connections to a standby leave the pool once it has refused a change, and reads in progress are not cut", async () => {
  const [primary, standby] = [await startServer("primary"), await startServer("standby")];
  const address = await startAddress(standby);
  const sql = openDatabase(address.url, { connections: CONNECTIONS });
  onCleanup(() => sql.end());
  const read = () =>
    Promise.all(Array.from({ length: CONNECTIONS }, () => sql`SELECT pg_sleep(0.3)`.execute()));
  const change = () =>
    sql`UPDATE database_identity SET only_row = true`.then(
      () => "done",
      ({ code }) => code,
    );
  await read();
  expect(await checkWrites(sql)).toContain("standby");
  const reading = read();
  address.lead(primary);
  expect(await change()).toBe(READ_ONLY);
  await reading;
  expect(await checkWrites(sql)).toBeNull();
  const changes = await Promise.all(Array.from({ length: 2 * CONNECTIONS }, change));
  expect(new Set(changes)).toEqual(new Set(["done"]));
});
