import { expect, test } from "bun:test";
import { connect } from "node:net";
import { BODY_DEFAULT_MAX_BYTES, REQUESTS_MAX_BYTES } from "../../../src/domain/limits.ts";
import { startApiProcess } from "../../../support/api/api.ts";
import { onCleanup } from "../../../support/cleanup.ts";
import { until } from "../../../support/until.ts";
import { residentMib } from "./resident.ts";

/** Their bodies together are several times as large as the service may take for all. */
const CLIENTS = 600;
const KEPT = REQUESTS_MAX_BYTES / BODY_DEFAULT_MAX_BYTES;
const GROWTH_MAX_MIB = 300;

test("clients that never finish their large bodies take a bounded part of the memory of the service", async () => {
  const api = await startApiProcess({ env: { MIMALLOC_PURGE_DELAY: "1000" } });
  const [attacker, other] = [await api.key(await api.user()), await api.key(await api.user())];
  const before = residentMib(api.server.pid);
  const { hostname, port } = new URL(api.url);
  const head =
    `POST /projects HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${attacker.key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${BODY_DEFAULT_MAX_BYTES}\r\n\r\n`;
  const part = Buffer.alloc(BODY_DEFAULT_MAX_BYTES - 1, " ");
  const answers: number[] = [];
  for (let i = 0; i < CLIENTS; i++) {
    const socket = connect(Number(port), hostname).on("error", () => {});
    onCleanup(() => void socket.destroy());
    socket.once("data", (bytes) => answers.push(Number(String(bytes).split(" ")[1])));
    socket.write(head);
    socket.write(part);
  }
  await until("those without room are answered", () => answers.length >= CLIENTS - KEPT);
  // They were refused for lack of room, long before the time of a body was over.
  expect(answers.slice(0, CLIENTS - KEPT)).toEqual(Array(CLIENTS - KEPT).fill(503));
  expect((await api.send("GET", "/projects", { as: other })).status).toBe(200);
  await until(
    "the memory of the bodies is given back",
    () => residentMib(api.server.pid) - before < GROWTH_MAX_MIB,
  );
});
