import { expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";

const api = await sharedApi();
const user = await api.user();
const project = await api.project(user);
await api.sql`
  INSERT INTO environments (id, project_id, name)
  VALUES (gen_random_uuid(), ${project.id}, 'production')`;
const body = JSON.stringify({ name: "A key" });

const send = (path: string, bytes: string | Uint8Array<ArrayBuffer>, encoding: string) =>
  api.send("POST", path, {
    as: user,
    body: bytes,
    headers: { "content-type": "application/json", "content-encoding": encoding },
  });

test("a compressed body is answered with 415, which names the accepted encoding", async () => {
  for (const path of [
    "/api-keys",
    "/projects",
    `/projects/${project.slug}/knowledge/lookup`,
    `/projects/${project.slug}/environments/production/search`,
  ]) {
    const answer = await send(path, Bun.gzipSync(body), "gzip");
    expect(answer.status, path).toBe(415);
    expect(answer.body.slug).toBe("unsupported-media-type");
    expect(answer.headers.get("accept-encoding")).toBe("identity");
  }
});

test("the encoding identity is accepted", async () => {
  expect((await send("/api-keys", body, "identity")).status).toBe(201);
});
