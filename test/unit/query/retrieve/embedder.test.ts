import { expect, test } from "bun:test";
import { type RetrieveServices, retrieve } from "../../../../src/query/retrieve/service.ts";

/** Continues a retrieval whose first page was of one embedder, in a project that has another one now. */
function continuation(vector: string | null, now: string) {
  const scope = { projectId: "project", id: "scope", tenant: "user" };
  const question = { projectId: "project", target: null, facets: null, filter: null };
  const services = {
    scopes: { find: async () => scope },
    cursors: {
      load: async () => ({ question, answered: "hybrid", vector, embedder: "old", progress: "1" }),
      newCursor: () => "next",
    },
    queries: { fingerprint: async () => now },
    engine: { retrieve: () => Promise.reject(new Error("the engine is asked")) },
  } as unknown as RetrieveServices;
  const call = {
    principal: { userId: "user" },
    params: { project_reference: "project" },
    body: { cursor: "c" },
    request: new Request("http://host/projects/project/retrieve"),
    basePath: "",
    note() {},
  };
  return retrieve(services, call as never).catch((error) => error);
}

test("a page by the vector of another embedder than the project's is refused, and one by words goes on", async () => {
  const vector = Buffer.from(Float32Array.of(1, 0).buffer).toString("base64");
  expect(await continuation(vector, "new")).toMatchObject({ slug: "invalid-cursor" });
  expect(await continuation(vector, "old")).toMatchObject({ message: "the engine is asked" });
  expect(await continuation(null, "new")).toMatchObject({ message: "the engine is asked" });
});
