import { expect, test } from "bun:test";
import { BODY_DEFAULT_MAX_BYTES } from "../../../src/domain/limits.ts";
import { startApiProcess } from "../../../support/api/api.ts";
import { RawClient } from "../../../support/raw-client.ts";
import { residentMib } from "./resident.ts";

const CLIENTS = 128;
const REQUESTS = 2_000;
/** A third of what all bodies take. */
const GROWTH_MAX_MIB = 800;

test("bodies that are refused unread leave nothing in the memory of the service", async () => {
  const api = await startApiProcess({ env: { MIMALLOC_PURGE_DELAY: "1000" } });
  const { key } = await api.key(await api.user());
  const length = BODY_DEFAULT_MAX_BYTES + 200_000;
  const head = `POST /projects HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n`;
  const type = `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  const payload = Buffer.concat([Buffer.from(head + type), Buffer.alloc(length, "x")]);
  const before = residentMib(api.server.pid);
  let [left, most] = [REQUESTS, 0];
  const send = async () => {
    const client = new RawClient(new URL(api.url));
    for (; left > 0; left--) {
      const { status } = await client.send(payload);
      expect(status).toBe(413);
      most = Math.max(most, residentMib(api.server.pid));
    }
    client.close();
  };
  await Promise.all(Array.from({ length: CLIENTS }, send));
  expect(most - before).toBeLessThan(GROWTH_MAX_MIB);
});
