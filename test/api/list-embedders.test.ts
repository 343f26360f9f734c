import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";

const api = await sharedApi();
const caller = await api.user();

describe("GET /embedders", () => {
  test("lists those that a project may name, each with the dimension of its vectors", async () => {
    const { status, body } = await api.get("/embedders", caller);
    expect(status).toBe(200);
    expect(body.data[0]).toEqual({ name: "hashing", dimension: 768 });
    for (const { name } of body.data) {
      const slug = `of-${name}`;
      const made = await api.post("/projects", { name, slug, embedder: name }, caller);
      expect([made.status, made.body.embedder]).toEqual([201, name]);
    }
  });
});
