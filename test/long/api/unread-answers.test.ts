import { expect, test } from "bun:test";
import { connect } from "node:net";
import { DIMENSIONS } from "../../../src/domain/limits.ts";
import { startApiProcess, type TestKey, type TestProject } from "../../../support/api/api.ts";
import { importsOf } from "../../../support/api/imports.ts";
import { onCleanup } from "../../../support/cleanup.ts";
import { until } from "../../../support/until.ts";
import { residentMib } from "./resident.ts";

const [DIMENSION] = DIMENSIONS;
const CHUNKS = 16;
const CHUNK_CHARS = 1_000_000;
/** Their answers together are several times as large as what the service may take. */
const CLIENTS = 100;
const GROWTH_MAX_MIB = 700;

test("clients that ask for large answers and never read them do not take the memory of the service", async () => {
  const api = await startApiProcess({ env: { MIMALLOC_PURGE_DELAY: "1000" } });
  const [attacker, other] = [await api.key(await api.user()), await api.key(await api.user())];
  const [theirs, own] = [await api.project(attacker), await api.project(other)];
  const embedding = Array.from({ length: DIMENSION }, (_, i) => i + 1);
  const file = (content: string, chunks: number) => [
    { record: "environment", name: "production" },
    {
      record: "file",
      path: "a.txt",
      environments: ["production"],
      content: "a",
      chunks: Array.from({ length: chunks }, () => ({ content, embedding })),
    },
  ];
  await importsOf(api, attacker).report(theirs, file("x".repeat(CHUNK_CHARS), CHUNKS));
  await importsOf(api, other).report(own, file("x", 1));
  const json = { vector: embedding, dimension: DIMENSION, limit: 100 };
  const path = ({ slug }: { slug: string }) => `/projects/${slug}/environments/production/search`;
  const found = async (caller: TestKey, project: TestProject) =>
    (await api.send("POST", path(project), { as: caller, json })).body.data?.length;
  await until("the large chunks are found", async () => (await found(attacker, theirs)) === CHUNKS);
  await until("the chunk of the other user is found", async () => (await found(other, own)) === 1);
  const before = residentMib(api.server.pid);

  const body = JSON.stringify(json);
  const { hostname, port } = new URL(api.url);
  for (let i = 0; i < CLIENTS; i++) {
    const socket = connect(Number(port), hostname).pause();
    socket.on("error", () => {});
    onCleanup(() => void socket.destroy());
    socket.write(
      `POST ${path(theirs)} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${attacker.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  }
  let most = 0;
  for (let i = 0; i < 40; i++) {
    expect(await found(other, own)).toBe(1);
    most = Math.max(most, residentMib(api.server.pid));
    await Bun.sleep(100);
  }
  expect(most - before).toBeLessThan(GROWTH_MAX_MIB);
});
