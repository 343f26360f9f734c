import { describe, expect, test } from "bun:test";
import { embed } from "../../src/embed/embedders/feature-hashing.ts";
import { CursorSigner, openCursorSigner } from "../../src/http/cursor.ts";
import { type Answer, startApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { startEmbeddingEndpoint } from "../../support/embedding-endpoint.ts";

const endpoint = startEmbeddingEndpoint();
endpoint.embed = (text, dimension) => [...embed(text, dimension)];
const asked = { url: endpoint.url, model: "asked", dimension: 768 };
const api = await startApi({ env: { EMBEDDERS: JSON.stringify({ asked }) } });
const owner = await api.user();
const CHANGES = 18;
const DIMENSION = 768;

/** Vectors by `hashing` are stored with their texts, those of other embedders later. */
async function newProject(embedder = "hashing"): Promise<string> {
  const slug = `changes-${crypto.randomUUID()}`;
  const answer = await api.post("/projects", { name: "Changes", slug, embedder }, owner);
  expect([answer.status, answer.headers.get("x-change")]).toEqual([201, expect.any(String)]);
  return `/projects/${slug}`;
}

const signer = await openCursorSigner(api.sql);
const positionOf = (token: string) => (signer.open("change", token) as [number])[0];
const tokenOf = ({ headers }: Answer) => headers.get("x-change") as string;
const put = (project: string, path: string, body: string) =>
  api.send("PUT", `${project}/files/${encodeURIComponent(path)}`, {
    as: owner,
    body,
    headers: { "content-type": "text/markdown" },
  });

/** Asks again while the service says that a busy machine takes longer than a read waits: it is never behind. */
async function patiently(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    expect(["index-behind", "dependency-unavailable"]).toContain(answer.body.slug);
  }
}
const at = (path: string, token: string) =>
  `${path}${path.includes("?") ? "&" : "?"}min_change=${token}`;
const vector = [...embed("A note about number.", DIMENSION)];
const octets = new Uint8Array(Float32Array.from(vector).buffer);

/** Every read of an index of a project, and the paths that it answers. */
const READS: Readonly<
  Record<string, (project: string, token: string, text?: string) => Promise<Answer>>
> = {
  searchEnvironment: (project, token) =>
    api.post(
      at(`${project}/environments/production/search`, token),
      { vector, dimension: DIMENSION, threshold: 0, limit: 100 },
      owner,
    ),
  "searchEnvironment by octets": (project, token) =>
    api.send(
      "POST",
      at(`${project}/environments/production/search?dimension=768&threshold=0&limit=100`, token),
      { as: owner, body: octets, headers: { "content-type": "application/octet-stream" } },
    ),
  searchRelease: (project, token) =>
    api.post(
      at(`${project}/releases/v1/search`, token),
      { vector, dimension: DIMENSION, threshold: 0, limit: 100 },
      owner,
    ),
  lookUpKnowledge: (project, token, text = "note") =>
    api.post(at(`${project}/knowledge/lookup`, token), { query: text }, owner),
  retrieve: (project, token) =>
    api.post(at(`${project}/retrieve`, token), { query: "note", limit: 100 }, owner),
  listFields: (project, token) => api.get(at(`${project}/fields`, token), owner),
  getIndexState: (project, token) => api.get(at(`${project}/index-state`, token), owner),
};

/** Operations that change nothing, although they are not GET. */
const SAFE = new Set([
  ...["searchEnvironment", "searchRelease", "lookUpKnowledge", "retrieve", "callMcp"],
]);

const foundIn: Readonly<Record<string, (body: Json, path: string, token: string) => boolean>> = {
  lookUpKnowledge: ({ data }, path) => data.some((item: Json) => item.path === path),
  listFields: ({ fields }, path) => fields[0].distinct === Number(path.replace(/\D/g, "")) + 2,
  getIndexState: (body, _, token) =>
    body.applied_sequence === null || body.applied_sequence >= positionOf(token),
};
const found = (name: string, body: Json, path: string, token: string): boolean =>
  foundIn[name]?.(body, path, token) ?? body.data.some((hit: Json) => hit.chunk.file_path === path);

describe("a read with min_change", () => {
  test.each(["hashing", "asked"])(
    "sees the change of its own token with vectors by %s, however many changes follow each other",
    async (embedder) => {
      const project = await newProject(embedder);
      await put(project, "first.md", "# First note\n");
      for (let i = 0; i < CHANGES; i++) {
        const path = `note-${i}.md`;
        const answer = await put(project, path, `# Note ${i}\n\nA note about number ${i}.\n`);
        // Each read is the first one after some of the changes, so none is helped by another that has waited.
        const names = Object.keys(READS).filter((name) => name !== "searchRelease");
        const name = names[i % names.length] as string;
        const { status, body } = await patiently(() =>
          (READS[name] as (typeof READS)[string])(project, tokenOf(answer), path),
        );
        expect([name, status, found(name, body, path, tokenOf(answer))]).toEqual([name, 200, true]);
      }
    },
  );

  test("sees a new release, the release that an environment serves, and that a file is gone", async () => {
    const project = await newProject();
    await put(project, "old.md", "# Old note\n");
    const lookUp = async (answer: Answer, target: object) => {
      const path = at(`${project}/knowledge/lookup`, tokenOf(answer));
      const { body } = await patiently(() => api.post(path, { lookup_target: target }, owner));
      return body.data.map((item: Json) => item.path);
    };
    const production = { environment: "production" };
    const frozen = { name: "v1", environment: "production" };
    const release = await api.post(`${project}/releases`, frozen, owner);
    expect(await lookUp(release, { release: "v1" })).toEqual(["old.md"]);
    const search = await patiently(() =>
      (READS["searchRelease"] as (typeof READS)[string])(project, tokenOf(release)),
    );
    expect(search.body.data).toHaveLength(1);
    const written = await put(project, "new.md", "# New note\n");
    expect(await lookUp(written, production)).toEqual(["new.md", "old.md"]);
    const environment = `${project}/environments/production`;
    const serve = (active_release: string | null) =>
      api.send("PATCH", environment, { as: owner, json: { active_release } });
    expect(await lookUp(await serve("v1"), production)).toEqual(["old.md"]);
    expect(await lookUp(await serve(null), production)).toEqual(["new.md", "old.md"]);
    const gone = await api.send("DELETE", `${project}/files/old.md`, { as: owner });
    expect(await lookUp(gone, production)).toEqual(["new.md"]);
  });

  test("sees the files of a template in the copy", async () => {
    const template = await newProject();
    await put(template, "copied.md", "# Copied\n");
    const slug = `copy-${crypto.randomUUID()}`;
    const templateSlug = template.replace("/projects/", "");
    const copy = await api.post("/projects", { name: "Copy", slug, templateSlug }, owner);
    const path = at(`/projects/${slug}/knowledge/lookup`, tokenOf(copy));
    const { body } = await patiently(() => api.post(path, {}, owner));
    expect(body.data.map((item: Json) => item.path)).toEqual(["copied.md"]);
  });

  test("of a frozen release confirms the copy that a caller has, whatever changed elsewhere", async () => {
    const project = await newProject();
    await put(project, "a.md", "# A note\n");
    const frozen = { name: "v1", environment: "production" };
    const release = tokenOf(await api.post(`${project}/releases`, frozen, owner));
    const send = (token: string, tag: string) =>
      patiently(() =>
        api.send("POST", at(`${project}/releases/v1/search`, token), {
          as: owner,
          json: { vector, dimension: DIMENSION, threshold: 0 },
          headers: tag === "" ? {} : { "if-none-match": tag },
        }),
      );
    const tag = (await send(release, "")).headers.get("etag") as string;
    expect((await send(release, tag)).status).toBe(304);
    const later = tokenOf(await put(project, "b.md", "# B note\n"));
    expect((await send(later, tag)).status).toBe(304);
    expect((await send(later, '"another"')).status).toBe(200);
  });

  test("of a list or a file sees what the database has, which is everything committed", async () => {
    const project = await newProject();
    const token = tokenOf(await put(project, "a.md", "# A note\n"));
    for (const path of ["/files", "/files/a.md", "/chunks", "/environments", "/releases", ""]) {
      expect((await api.get(at(`${project}${path}`, token), owner)).status).toBe(200);
    }
  });

  test("a token that is malformed, of another service or of a change that was never made is refused", async () => {
    const project = await newProject();
    const genuine = tokenOf(await put(project, "a.md", "# A note\n"));
    const refused = [
      "",
      "x",
      `${genuine}A`,
      genuine.slice(0, -2),
      genuine.toLowerCase(),
      new CursorSigner(new Uint8Array(32)).seal("change", 1),
      signer.seal("files", 1),
      signer.seal("change", "1"),
      signer.seal("change", [Number.MAX_SAFE_INTEGER, "2026-01-01 00:00:00+00"]),
    ];
    for (const [name, read] of Object.entries(READS)) {
      if (name === "searchRelease") continue;
      for (const token of refused) {
        const { status, body } = await read(project, token);
        expect([name, token, status, body.slug]).toEqual([name, token, 400, "validation-failed"]);
        expect(body.errors[0].field).toBe("min_change");
      }
    }
    const list = await api.get(at(`${project}/files`, "x"), owner);
    expect([list.status, list.body.errors[0].field]).toEqual([400, "min_change"]);
  });

  test("a token of a foreign project says nothing about it, and opens nothing", async () => {
    const project = await newProject();
    const own = await put(project, "a.md", "# A note\n");
    const { project: foreign } = await api.ownedProject();
    const lookUp = (to: string, token: string) =>
      api.post(at(`${to}/knowledge/lookup`, token), {}, owner);
    const answers = [];
    for (const token of [tokenOf(own), tokenOf(await put(project, "a.md", "# A note\n"))]) {
      const { status, body } = await lookUp(`/projects/${foreign.slug}`, token);
      answers.push([status, body.slug, body.detail]);
    }
    const { status, body } = await lookUp("/projects/no-such-project", tokenOf(own));
    expect(answers).toEqual([
      [status, body.slug, body.detail],
      [status, body.slug, body.detail],
    ]);
    expect(status).toBe(404);
  });
});

test("reads take min_change, exactly those of an index may be answered index-behind, and writes have X-Change", async () => {
  const { document } = await api.contract();
  const reads: string[] = [];
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    for (const [method, operation] of Object.entries<Json>(methods)) {
      const { operationId: id, parameters, responses } = operation;
      const success = Object.entries<Json>(responses).filter(([status]) => Number(status) < 300);
      const isWrite = success.some(([, { headers }]) => headers["X-Change"] !== undefined);
      const takes = parameters.some(({ name }: Json) => name === "min_change");
      const examples = Object.values<Json>(responses).flatMap(({ content }) =>
        Object.keys(content?.["application/problem+json"]?.examples ?? {}),
      );
      if (examples.includes("index-behind")) reads.push(id);
      const isOpen = path.startsWith("/errors") || path === "/mcp";
      expect([id, isWrite, takes]).toEqual([
        id,
        method !== "get" && !SAFE.has(id),
        !isOpen && !isWrite,
      ]);
    }
  }
  const named = new Set(Object.keys(READS).map((name) => name.split(" ")[0] as string));
  expect(reads.toSorted()).toEqual([...named].toSorted());
});
