import { expect, test } from "bun:test";
import { startApiProcess } from "../support/api.ts";

async function logOf(level: string) {
  const api = await startApiProcess({ env: { LOG_LEVEL: level } });
  const key = await api.key(await api.user());
  const found = await api.get("/projects", key, { "x-request-id": "the-first" });
  expect(found.status).toBe(200);
  await api.get("/projects/nothing?secret=s", key, { "x-request-id": "the-second" });
  await api.stop();
  const lines = api.server
    .logs()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request");
  return { key, requests, text: api.server.logs() };
}

test("at its own level every request is one line with id, operation, status, time and caller", async () => {
  const { key, requests, text } = await logOf("http");
  const caller = { userId: key.userId, keyId: key.id, ms: expect.any(Number), level: 25 };
  expect(requests).toMatchObject([
    { requestId: "the-first", operation: "listProjects", status: 200, ...caller },
    { requestId: "the-second", operation: "getProject", status: 404, ...caller },
  ]);
  expect(text).not.toContain(key.key);
  expect(text).not.toContain("secret=s");
});

test("at the default level requests are not logged", async () => {
  expect((await logOf("info")).requests).toEqual([]);
});
