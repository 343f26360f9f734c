import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { LOOKUP_SHARDS_MAX } from "../../src/domain/limits.ts";
import { addEnvironment, addRelease } from "../../support/accounts.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import {
  release as attachToRelease,
  publishTexts,
  writeVersion,
} from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";
import { questionPages } from "./paging.ts";

const api = await sharedApi();
const { sql } = api;
const member = await api.user();

const TEXTS = {
  "guide/snapshots.md":
    "---\ntitle: Snapshots\ntags: [backup, restore]\nowner: {team: storage}\n---\n# Snapshots\n\nHow the index is written to disk.\n\n## Retention policy\n\nOld copies are deleted.",
  "guide/webhooks.md":
    "---\ntitle: Webhooks\n---\n# Webhooks\n\nDeliveries arrive over HTTP and carry a secret.",
  "guide/search.mdx": "# Searching\n\nVectors are compared by cosine similarity.",
  "notes/日本語.md": "# 検索サービス\n\n埋め込みベクトルの検索。🚀",
  "data/table.csv": "snapshots,webhooks\n1,2",
  "Zebra.md": "---\n: broken [yaml\n---\n# Stripes\n\nA horse in pyjamas.",
};

const project = await api.project(member);
const environment = await addEnvironment(sql, project);
await publishTexts(sql, project, environment, TEXTS);
const pathOf = (of: TestProject) => `/projects/${of.slug}/knowledge/lookup`;
const path = pathOf(project);

const look = (json: unknown, at = path) => api.post(at, json, member);
const pathsOf = (page: Json): string[] => page.data.map((item: Json) => item.path);

/** Looks until the paths are as wanted. */
async function untilSeen(wanted: readonly string[], at: string, body = {}): Promise<void> {
  await until(`${JSON.stringify(body)} finds ${wanted.join(", ") || "nothing"}`, async () =>
    Bun.deepEquals(pathsOf((await look(body, at)).body), wanted),
  );
}

const allPages = (body: object, at = path) => questionPages((json) => look(json, at), body);

describe("POST /projects/{project_reference}/knowledge/lookup", () => {
  test("a query finds files and reports the fields that matched", async () => {
    const { status, body } = await look({ query: "  retention policy " });
    expect(status).toBe(200);
    expect(body).toMatchObject({ query: "retention policy", mode: "search" });
    expect(body.data[0]).toEqual({
      path: "guide/snapshots.md",
      matched_fields: ["headings"],
      frontmatter: [
        { key: "title", value: "Snapshots" },
        { key: "tags", value: '["backup","restore"]' },
        { key: "owner", value: '{"team":"storage"}' },
      ],
      title: "Snapshots",
      snippet: { text: expect.any(String), matches: expect.any(Array) },
      score: expect.any(Number),
    });
    expect(body.returned).toBe(body.data.length);
    expect(body.shard).toEqual({ shard_index: 0, shard_count: 1, total_items: 5 });
    expect(body.page_info).toEqual({ self: path, first: null, next: null, prev: null });
  });

  test("without a query, all Markdown files are listed in byte order of path", async () => {
    const { body } = await look({});
    expect(body).toMatchObject({ mode: "browse", query: "", total_matches: 5, returned: 5 });
    expect(pathsOf(body)).toEqual([
      "Zebra.md",
      "guide/search.mdx",
      "guide/snapshots.md",
      "guide/webhooks.md",
      "notes/日本語.md",
    ]);
    expect(body.data.every((item: Json) => item.matched_fields.length === 0)).toBe(true);
  });
});

describe("the target of a lookup", () => {
  test("the default target is production, else the first environment by name", async () => {
    const own = await api.project(member);
    await publishTexts(sql, own, await addEnvironment(sql, own, "beta"), { "b.md": "beta" });
    await publishTexts(sql, own, await addEnvironment(sql, own, "alpha"), { "a.md": "alpha" });
    await untilSeen(["a.md"], pathOf(own));
    await publishTexts(sql, own, await addEnvironment(sql, own), { "p.md": "production" });
    await untilSeen(["p.md"], pathOf(own));
    const named = await look({ lookup_target: { environment: "beta" } }, pathOf(own));
    expect(pathsOf(named.body)).toEqual(["b.md"]);
  });

  test("the target can be a release, and an environment serves its active release", async () => {
    const own = await api.project(member);
    const production = await addEnvironment(sql, own);
    const release = await addRelease(sql, own, "v1.0.0");
    const old = await writeVersion(sql, own, "old.md", "the old text");
    await attachToRelease(sql, own, release.id, [old]);
    await publishTexts(sql, own, production, { "new.md": "the new text" });
    for (const name of [release.name, release.id]) {
      const { body } = await look({ lookup_target: { release: name } }, pathOf(own));
      expect(pathsOf(body)).toEqual(["old.md"]);
    }
    await untilSeen(["new.md"], pathOf(own));
    await sql`UPDATE environments SET active_release_id = ${release.id} WHERE id = ${production.id}`;
    await untilSeen(["old.md"], pathOf(own));
  });

  test("a missing target answers 404", async () => {
    const missing = [
      [{ environment: "nowhere" }, "environment-not-found"],
      [{ release: "v9" }, "release-not-found"],
      [{ release: randomUUID() }, "release-not-found"],
      [{ environment: "a\u0000b" }, "environment-not-found"],
    ] as const;
    for (const [lookup_target, slug] of missing) {
      const answer = await look({ lookup_target });
      expect(answer.status).toBe(404);
      expect(answer.body.slug).toBe(slug);
    }
    const bare = await api.project(member);
    expect((await look({}, pathOf(bare))).body.slug).toBe("environment-not-found");
  });
});

describe("an invalid lookup answers 400 and names the field", () => {
  const cases: Array<[field: string, body: unknown]> = [
    ["query", { query: "  \n" }],
    ["shard_index", { shard_index: 1 }],
    ["shard_index", { shard_count: 3, shard_index: 3 }],
    ["lookup_target", { lookup_target: {} }],
    ["lookup_target", { lookup_target: "production" }],
    ["lookup_target", { lookup_target: { environment: "a", release: "b" } }],
    ["lookup_target", { lookup_target: { environment: 1 } }],
    ["lookup_target", { lookup_target: { branch: "main" } }],
  ];
  test.each(cases)("%s, case %#", async (field, body) => {
    const answer = await look(body);
    expect(answer.status).toBe(400);
    expect(answer.body.slug).toBe("validation-failed");
    expect(answer.body.errors.map((error: Json) => error.field)).toContain(field);
    expect(answer.text.length).toBeLessThan(2_000);
  });
});

describe("pages", () => {
  test("all pages together are the whole result, in search and in browse", async () => {
    for (const query of [undefined, "the index of vectors and webhooks"]) {
      const body = query === undefined ? {} : { query };
      const whole = pathsOf((await look(body)).body);
      const pages = await allPages({ ...body, limit: 1 });
      expect(pages.flatMap(pathsOf)).toEqual(whole);
      expect(pages.every((page) => page.total_matches === whole.length)).toBe(true);
    }
  });

  test("a cursor continues its own query and allows only the same parameters", async () => {
    const question = {
      query: "the index of vectors",
      limit: 1,
      shard_count: 1,
      shard_index: 0,
      lookup_target: { environment: "production" },
    };
    const cursor = (await look(question)).body.page_info.next;
    expect(cursor).toBeString();
    expect((await look({ cursor, ...question })).status).toBe(200);
    expect((await look({ cursor, query: " the index of vectors" })).status).toBe(200);
    const others = [
      { query: "another" },
      { limit: 2 },
      { shard_count: 2 },
      { lookup_target: { environment: "staging" } },
      { lookup_target: { release: "production" } },
      { filter: { path: "guide/search.mdx" } },
    ];
    for (const other of others) {
      const answer = await look({ cursor, ...other });
      expect(answer.status).toBe(400);
      expect(answer.body.slug).toBe("invalid-cursor");
    }
    const elsewhere = await api.project(member);
    await addEnvironment(sql, elsewhere);
    const crossed = await look({ cursor }, pathOf(elsewhere));
    expect(crossed.body.slug).toBe("invalid-cursor");
  });

  test("a lookup without a body is one with an empty body", async () => {
    const empty = (await look({})).body;
    for (const headers of [{}, { "content-type": "application/json" }]) {
      const answer = await api.send("POST", path, { as: member, headers });
      expect(answer.status).toBe(200);
      expect(answer.body.mode).toBe("browse");
      expect(pathsOf(answer.body)).toEqual(pathsOf(empty));
    }
    const broken = { as: member, body: " ", headers: { "content-type": "application/json" } };
    expect((await api.send("POST", path, broken)).status).toBe(400);
  });

  test("a target that names the scope which a question has by default continues it", async () => {
    const own = await api.project(member);
    const production = await addEnvironment(sql, own, "production");
    await addEnvironment(sql, own, "staging");
    await publishTexts(sql, own, production, TEXTS);
    await untilSeen(
      Object.keys(TEXTS)
        .filter((name) => !name.endsWith(".csv"))
        .sort(),
      pathOf(own),
    );
    const { next: cursor } = (await look({ limit: 2 }, pathOf(own))).body.page_info;
    expect(cursor).toBeString();
    const whole = await look({ cursor }, pathOf(own));
    const named = { cursor, lookup_target: { environment: "production" } };
    const same = await look(named, pathOf(own));
    expect(same.status).toBe(200);
    expect(pathsOf(same.body)).toEqual(pathsOf(whole.body));
    for (const lookup_target of [{ environment: "staging" }, { environment: "none" }]) {
      const other = await look({ cursor, lookup_target }, pathOf(own));
      expect([other.status, other.body.slug]).toEqual([400, "invalid-cursor"]);
    }
    const foreign = await api.post(pathOf(own), named, await api.user());
    expect([foreign.status, foreign.body.slug]).toEqual([404, "project-not-found"]);
  });

  test("another name of its release does not continue a question that names the release", async () => {
    const own = await api.project(member);
    const release = await addRelease(sql, own, "v1.0.0");
    const files = ["a.md", "b.md"].map((name) => writeVersion(sql, own, name, "a text"));
    await attachToRelease(sql, own, release.id, await Promise.all(files));
    const target = { release: release.name };
    const { next: cursor } = (await look({ limit: 1, lookup_target: target }, pathOf(own))).body
      .page_info;
    expect((await look({ cursor, lookup_target: target }, pathOf(own))).status).toBe(200);
    const other = await look({ cursor, lookup_target: { release: release.id } }, pathOf(own));
    expect([other.status, other.body.slug]).toEqual([400, "invalid-cursor"]);
  });

  test("pages never repeat or skip an item while files change between them", async () => {
    const own = await api.project(member);
    const production = await addEnvironment(sql, own);
    const texts = (word: string) =>
      Object.fromEntries(
        Array.from({ length: 30 }, (_, i) => [`f${i}.md`, `# Common ${word} ${i % 7}\n\ncommon`]),
      );
    await publishTexts(sql, own, production, texts("first"));
    const read: string[] = [];
    let body: Json = (await look({ query: "common", limit: 7 }, pathOf(own))).body;
    for (let change = 0; ; change++) {
      read.push(...pathsOf(body));
      if (body.page_info.next === null) break;
      const changed = Object.entries(texts(`changed${change} common common`)).slice(change * 5);
      const marker = { [`marker${change}.md`]: `marker${change}` };
      const some = Object.fromEntries(changed.slice(0, 9));
      await publishTexts(sql, own, production, { ...some, ...marker });
      await untilSeen(Object.keys(marker), pathOf(own), { query: `marker${change}` });
      body = (await look({ cursor: body.page_info.next }, pathOf(own))).body;
    }
    expect(read.toSorted()).toEqual(Object.keys(texts("")).toSorted());
  });
});

describe("shards", () => {
  test("shards are disjoint and together hold every item, for arbitrary paths", async () => {
    const own = await api.project(member);
    const production = await addEnvironment(sql, own);
    const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
    const names = fc.sample(name, 60).map((text) => text.replace(/[\0\ud800-\udfff]/g, "x"));
    const paths = [...new Set(names.map((text) => `${text}.md`))];
    await publishTexts(sql, own, production, Object.fromEntries(paths.map((p) => [p, "word"])));
    for (const shard_count of [1, 2, 3, LOOKUP_SHARDS_MAX]) {
      for (const query of [undefined, "word"]) {
        const found: string[] = [];
        let items = 0;
        for (let shard_index = 0; shard_index < shard_count; shard_index++) {
          const body = { shard_count, shard_index, ...(query === undefined ? {} : { query }) };
          const pages = await allPages(body, pathOf(own));
          const mine = pages.flatMap(pathsOf);
          expect(pages[0].shard).toEqual({ shard_index, shard_count, total_items: mine.length });
          expect(pages[0].total_matches).toBe(mine.length);
          items += mine.length;
          found.push(...mine);
        }
        expect(items).toBe(paths.length);
        expect(found.toSorted()).toEqual(paths.toSorted());
      }
    }
  });
});

describe("a committed change", () => {
  test("many small changes are merged without losing any", async () => {
    const own = await api.project(member);
    const production = await addEnvironment(sql, own);
    const word = (i: number) => String.fromCharCode(97 + i).repeat(6);
    for (let i = 0; i < 24; i++) {
      const name = `f${i % 20}.md`;
      await publishTexts(sql, own, production, { [name]: `shared ${word(i)}` });
      await untilSeen([name], pathOf(own), { query: word(i) });
    }
    const pages = await allPages({ query: "shared" }, pathOf(own));
    expect(new Set(pages.flatMap(pathsOf)).size).toBe(20);
    expect(pathsOf((await look({ query: word(3) }, pathOf(own))).body)).not.toContain("f3.md");
  });
});
