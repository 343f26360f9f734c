import { describe, expect, test } from "bun:test";

import { cutVersions } from "../../src/content/embeddings/store.ts";

import { base64Of } from "../../src/domain/vector.ts";

import { hashingEmbedder } from "../../src/embed/embedders/embedder.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { until } from "../../support/until.ts";
import { questionPages } from "./paging.ts";

const api = await sharedApi();
const owner = await api.user();
const { report } = importsOf(api, owner);

const FILES = {
  "guides/snapshots.md":
    "---\ntitle: Snapshots\nlang: en\n---\n# Snapshots\n\nA snapshot of an index brings it back in seconds.\n\n## Restore\n\nRestoring reads the snapshot file.",
  "guides/releases.md": "---\nlang: en\n---\n# Releases\n\nA release is a frozen set of files.",
  "guides/freigaben.md": "---\nlang: de\n---\n# Freigaben\n\nEine Freigabe friert Dateien ein.",
  "notes.txt": "Plain text about tomatoes and gardening.",
};

async function projectWith(files: Readonly<Record<string, string>>, embedder?: string) {
  const project = await api.project(owner);
  await addEnvironment(api.sql, project);
  if (embedder !== undefined) {
    const patched = await api.send("PATCH", `/projects/${project.slug}`, {
      as: owner,
      json: { embedder },
    });
    expect(patched.body.embedder).toBe(embedder);
  }
  const records = Object.entries(files).map(([path, content]) => ({
    record: "file",
    path,
    content,
    environments: ["production"],
  }));
  await report(project, records);
  const ask = (json: object, as: Caller = owner) =>
    api.post(`/projects/${project.slug}/retrieve`, json, as);
  const waiting = async () => {
    return (await api.get(`/projects/${project.slug}/index-state`, owner)).body.embeddings_waiting;
  };
  await until("no file waits for its embedding", async () => (await waiting()) === 0);
  if (records.length === 0) return { project, ask };
  // What is committed is found within a second, the first file by its path.
  const query = Object.keys(files)[0];
  await until(
    "the first file is found by its path",
    async () => (await ask({ query, mode: "keyword" })).body.data.length > 0,
  );
  return { project, ask };
}

interface Shown {
  readonly chunk: { readonly file_path: string; readonly content: string } | null;
  readonly file?: { readonly path: string };
  readonly highlight: { readonly text: string; readonly matches: unknown[] };
}

const { project, ask } = await projectWith(FILES, "hashing");
const paths = (body: { data: { chunk: { file_path: string } }[] }) =>
  body.data.map(({ chunk }) => chunk.file_path);
// The embeddings are stored; searches see them within a second.
await until("a file is found by its meaning", async () => {
  const { body } = await ask({ query: "tomatoes gardening", mode: "semantic", threshold: 0.1 });
  return body.data.length > 0;
});

describe("POST /projects/{project_reference}/retrieve", () => {
  test("files that arrive as text over HTTP are cut, embedded and found by meaning", async () => {
    const { status, body, headers } = await ask({
      query: "snapshot of an index",
      mode: "semantic",
      threshold: 0.1,
    });
    expect(status).toBe(200);
    expect(headers.get("x-retrieval")).toBe("semantic");
    const [best] = body.data;
    expect(best.chunk.file_path).toBe("guides/snapshots.md");
    expect(best.match_type).toBe("semantic");
    expect(best.score).toBe(best.scores.semantic);
    expect(best.scores.keyword).toBeNull();
    expect(best.title).toBeString();
    expect(best.highlight.text).toContain("snapshot");
  });

  test("hybrid is the default with a query, and says what found each hit", async () => {
    const { body, headers } = await ask({ query: "restoring a snapshot" });
    expect(headers.get("x-retrieval")).toBe("hybrid");
    expect(headers.get("x-routing-key")).toBe(project.id);
    const [best] = body.data;
    expect(best.chunk.file_path).toBe("guides/snapshots.md");
    const types = body.data.map(({ match_type }: { match_type: string }) => match_type);
    expect(types).toContain("hybrid");
  });

  test("a vector alone is searched semantically, as an array or in base64", async () => {
    const vector = await hashingEmbedder().embedQuery("frozen set of files");
    const base64 = base64Of(vector);
    for (const given of [[...vector], base64]) {
      const { body, headers } = await ask({ vector: given, dimension: 768, threshold: 0.2 });
      expect(headers.get("x-retrieval")).toBe("semantic");
      expect(paths(body)[0]).toBe("guides/releases.md");
      expect(body.data[0].highlight).toBeUndefined();
    }
    const none = await ask({ vector: base64, dimension: 768 });
    expect(none.body.data, "the threshold is 0.7 by default").toEqual([]);
  });

  test("a filter and a target restrict what is found", async () => {
    const filter = { "frontmatter.lang": "de" };
    for (const mode of ["keyword", "semantic", "hybrid"]) {
      const { body } = await ask({
        query: "Freigabe release Dateien files",
        filter,
        mode,
        threshold: 0,
      });
      expect(new Set(paths(body)), mode).toEqual(new Set(["guides/freigaben.md"]));
    }
    await addEnvironment(api.sql, project, "empty");
    const empty = await ask({ query: "release", target: { environment: "empty" } });
    expect([empty.status, empty.body.data]).toEqual([200, []]);
    const missing = await ask({ query: "release", target: { environment: "none" } });
    expect([missing.status, missing.body.slug]).toEqual([404, "environment-not-found"]);
    const release = await ask({ query: "release", target: { release: "none" } });
    expect([release.status, release.body.slug]).toEqual([404, "release-not-found"]);
  });

  test("a text shows its file until it is cut, and its passages before they are embedded", async () => {
    const own = await projectWith({ "a.md": "# Alpha\n\n## Beta\n\nThe llama was first." });
    const find = async () => (await own.ask({ query: "llama" })).body.data;
    const [hit] = await find();
    const { file } = hit;
    expect([hit.chunk, hit.highlight.text]).toEqual([null, "The llama was first."]);
    const stored = await api.sql`
      SELECT f.id, f.path, v.id AS version_id FROM files f JOIN file_versions v ON v.file_id = f.id
      WHERE f.project_id = ${own.project.id}`;
    expect(file).toEqual({ ...stored[0] });
    await api.sql`UPDATE projects SET embedder = 'away:none:768' WHERE id = ${own.project.id}`;
    await cutVersions(api.sql, [file.version_id]);
    await until("its passage is shown", async () => (await find())[0].chunk !== null);
    const [passage] = await find();
    expect(passage.chunk).toMatchObject({ file_id: file.id, file_version_id: file.version_id });
    expect([passage.heading, passage.scores.semantic]).toEqual(["Beta", null]);
  });

  test("texts that are cut together are told to the index by one statement", async () => {
    const { project } = await projectWith({ "a.md": "The llama.", "b.md": "The alpaca." });
    const versions = await api.sql<{ id: string }[]>`
      SELECT id FROM file_versions WHERE project_id = ${project.id}`;
    const ids = versions.map(({ id }) => id);
    let statements = 0;
    const counting = new Proxy(api.sql, {
      apply(sql, self, args) {
        if (String(args[0]).includes("append_change")) statements++;
        return Reflect.apply(sql, self, args);
      },
    });
    for (let times = 0; times < 2; times++) {
      await cutVersions(counting, ids);
      expect(statements).toBe(1);
      const told = await api.sql<{ ref: string }[]>`
        SELECT ref FROM change_log WHERE project_id = ${project.id} AND kind = 'embedded'`;
      expect(told.map(({ ref }) => ref).sort()).toEqual(ids.toSorted());
    }
  });

  test("a release is searched in the versions that it holds", async () => {
    const { project, ask } = await projectWith({ "a.md": "# Alpha\n\nThe llama was first." });
    const at = `/projects/${project.slug}`;
    const release = { name: "v1", environment: "production" };
    expect((await api.post(`${at}/releases`, release, owner)).status).toBe(201);
    await api.putText(owner, project, "a.md", "# Alpha\n\nThe llama came later.");
    const contents = async (target: object) => {
      const { body } = await ask({ query: "llama", mode: "keyword", target });
      return JSON.stringify(body.data);
    };
    await until("the later text is found", async () =>
      (await contents({ environment: "production" })).includes("later"),
    );
    const old = await contents({ release: "v1" });
    expect(old).toContain("was first");
    expect(old).not.toContain("later");
  });

  test("pages neither repeat nor skip a hit, and a cursor is bound to its question", async () => {
    const question = { query: "snapshot release files", limit: 1 };
    const whole = (await ask({ ...question, limit: 100 })).body.data;
    const ids = (data: { chunk: { id: string } }[]) => data.map(({ chunk }) => chunk.id);
    const pages = await questionPages(ask, question);
    const { next } = pages[0].page_info;
    const seen = pages.flatMap(({ data }) => ids(data));
    const scores: number[] = pages.flatMap(({ data }) =>
      data.map(({ score }: { score: number }) => score),
    );
    expect(seen.sort()).toEqual(ids(whole).sort());
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    const same = { ...question, cursor: next, target: { environment: "production" } };
    expect((await ask(same)).status).toBe(200);
    for (const other of [
      { query: "other" },
      { limit: 2 },
      { mode: "keyword" },
      { threshold: 0.5 },
      { filter: { path: "x" } },
      { target: { environment: "empty" } },
      { group_by: "file" },
      { diversity: 0.3 },
      { facets: ["path"] },
      { like: { path: "notes.txt" } },
      { unlike: { path: "notes.txt" } },
      { cursor: "nonsense" },
    ]) {
      const answer = await ask({ cursor: next, ...other });
      expect([answer.status, answer.body.slug], JSON.stringify(other)).toEqual([
        400,
        "invalid-cursor",
      ]);
    }
    const elsewhere = await projectWith({ "a.md": "# A" });
    expect((await elsewhere.ask({ cursor: next })).body.slug).toBe("invalid-cursor");
  });

  test("says whether the number of hits is exact", async () => {
    for (const [mode, expected] of [
      ["keyword", "exact"],
      ["semantic", "exact"],
      ["hybrid", "at-least"],
    ]) {
      const { headers } = await ask({ query: "snapshot", mode, threshold: 0 });
      expect(headers.get("x-total-matches"), mode).toBe(expected as string);
    }
  });

  test("a project without an embedder answers hybrid by keyword, and semantic names the remedy", async () => {
    const plain = await projectWith(FILES);
    const { body, headers } = await plain.ask({ query: "snapshot" });
    expect(headers.get("x-retrieval")).toBe("keyword");
    const [best] = body.data;
    expect([best.chunk, best.file.path]).toEqual([null, "guides/snapshots.md"]);
    expect([best.match_type, best.scores.semantic]).toEqual(["keyword", null]);
    const semantic = await plain.ask({ query: "snapshot", mode: "semantic" });
    expect([semantic.status, semantic.body.slug]).toEqual([400, "validation-failed"]);
    expect(semantic.body.detail).toContain("PATCH");
  });

  test("a chunk without an embedding is found by its text, with the heading above it, and by a filter", async () => {
    const { project, ask } = await projectWith({});
    const contents = ["# Bare\n\nNo vector at all.", "## Rigging\n\nA kite and its halyard."];
    const chunks = contents.map((content, part) => {
      const [heading] = content.split("\n");
      return { content, metadata: { part, headings: [heading?.replace(/^#+ /, "")] } };
    });
    const file = { record: "file", path: "bare.md", environments: ["production"] };
    await report(project, [{ ...file, content: contents.join("\n\n"), chunks }]);
    const question = { query: "halyard", mode: "keyword", limit: 1 };
    await until("the file is found", async () => (await ask(question)).body.data.length > 0);
    const [best] = (await ask(question)).body.data;
    expect(best).toMatchObject({ title: "Bare", heading: "Rigging", chunk: chunks[1] });
    const { body } = await ask({ ...question, filter: { "metadata.part": 0 } });
    expect(body.data[0].chunk).toMatchObject({ content: contents[0] });
  });

  test("a file without text is shown by its title and description, and is no hit without both", async () => {
    const { ask } = await projectWith({
      "both.md": '---\ntitle: A quokka entry\ndescription: All of the "menu" é\n---\n',
      "title.md": "---\ntitle: Only quokka\n---\n\n<!-- nothing -->\n",
      "heading.md": "# The quokka heading\n",
      "described.md": "---\ndescription: Some quokka\n---\n",
      "quokka.md": "---\ntags: [quokka]\n---\n",
    });
    for (const limit of [1, 10]) {
      const { body } = await ask({ query: "quokka", mode: "keyword", limit });
      for (const { highlight, chunk } of body.data) {
        expect(highlight.text || chunk?.content).not.toBe("");
        expect(highlight.matches.length).toBe(1);
      }
    }
    const { body } = await ask({ query: "quokka", mode: "keyword" });
    const shown = body.data.map(({ chunk, file, highlight: { text } }: Shown) => [
      chunk?.file_path ?? file?.path,
      text,
    ]);
    expect(Object.fromEntries(shown)).toEqual({
      "both.md": 'A quokka entry. All of the "menu" é',
      "title.md": "Only quokka",
      "heading.md": "The quokka heading",
      "described.md": "Some quokka",
    });
  });

  test("invalid fields are named", async () => {
    const vector = Array.from({ length: 768 }, () => 1);
    for (const [json, field] of [
      [{}, "query"],
      [{ query: " " }, "query"],
      [{ mode: "keyword", vector, dimension: 768 }, "query"],
      [{ mode: "hybrid", vector, dimension: 768 }, "query"],
      [{ vector }, "dimension"],
      [{ vector, dimension: 1024 }, "vector"],
      [{ vector: [], dimension: 1 }, "vector"],
      [{ vector: [...vector.slice(1), "a"], dimension: 768 }, "vector[767]"],
      [{ vector: vector.map(() => 0), dimension: 768 }, "vector"],
      [{ query: "a", target: { environment: "a", release: "b" } }, "target"],
      [{ query: "a", filter: { path: { $like: "b" } } }, "filter.path.$like"],
    ] as const) {
      const answer = await ask(json);
      expect(answer.status, JSON.stringify(json).slice(0, 80)).toBe(400);
      expect(answer.body.errors[0].field, JSON.stringify(json).slice(0, 80)).toBe(field);
    }
    // Code points count, without white space around them.
    expect((await ask({ query: `  ${"🙂".repeat(500)}  ` })).status).toBe(200);
  });

  test("a vector that is not of the project's embedder is refused with both", async () => {
    const vector = Array.from({ length: 1024 }, () => 1);
    const { status, body } = await ask({ vector, dimension: 1024 });
    expect(status).toBe(400);
    expect(body.detail).toContain("hashing:feature-hashing-1:768");
    expect(body.detail).toContain("1024");
  });
});
