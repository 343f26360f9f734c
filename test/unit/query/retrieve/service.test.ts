import { expect, test } from "bun:test";
import { type RetrieveServices, retrieve } from "../../../../src/query/retrieve/service.ts";

/** Continues a retrieval whose first page was of one embedder, in a project that has another one now. */
function continuation(vector: string | null, now: string) {
  const engine = { retrieve: () => Promise.reject(new Error("the engine is asked")) };
  return continued({ vector, now, engine, tenant: "user", facets: null });
}

/** The same by words, with facets. */
const facetsOf = (engine: object, tenant: string) =>
  continued({ vector: null, now: "old", engine, tenant, facets: `["path"]` });

interface Continued {
  readonly vector: string | null;
  readonly now: string;
  readonly engine: object;
  readonly tenant: string;
  readonly facets: string | null;
}

function continued({ vector, now, engine, tenant, facets }: Continued) {
  const scope = { projectId: "project", id: "scope", tenant };
  const question = { projectId: "project", target: null, facets, filter: null };
  const services = {
    scopes: { find: async () => scope },
    cursors: {
      load: async () => ({ question, answered: "hybrid", vector, embedder: "old", progress: "1" }),
      newCursor: () => "next",
    },
    queries: { fingerprint: async () => now },
    engine,
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

test("facets that are not counted in time are refused with the reason, and one user counts once at a time", async () => {
  const asked: string[] = [];
  const reply = Promise.withResolvers<object>();
  const engine = {
    retrieve: ({ scope }: { scope: { tenant: string } }) => {
      asked.push(scope.tenant);
      return reply.promise;
    },
  };
  const asks = (tenant: string) => facetsOf(engine, tenant);
  const answers = [asks("greedy"), asks("greedy"), asks("modest")];
  await Bun.sleep(0);
  expect(asked).toEqual(["greedy", "modest"]);
  reply.resolve({ status: "late" });
  for (const answer of await Promise.all(answers)) {
    expect(answer).toMatchObject({ slug: "overloaded" });
    expect(answer.message).toContain("facets");
  }
  expect(asked).toEqual(["greedy", "modest", "greedy"]);
});
