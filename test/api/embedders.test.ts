import { beforeEach, describe, expect, test } from "bun:test";
import { retryFailures } from "../../src/content/embeddings/queue/failures.ts";
import type { Transaction } from "../../src/db/client.ts";
import { startApi, type TestProject } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { onCleanup } from "../../support/cleanup.ts";
import {
  type EmbeddingRequest,
  startEmbeddingEndpoint,
  vectorOf,
} from "../../support/embedding-endpoint.ts";
import { beforeCommit } from "../../support/open-transaction.ts";
import { until } from "../../support/until.ts";

const SECRET = "sk-the-operators-key";
const endpoint = startEmbeddingEndpoint();
const env = {
  EMBEDDERS: JSON.stringify({
    model: {
      url: endpoint.url,
      model: "nomic-embed-text",
      dimension: 768,
      api_key_env: "MODEL_KEY",
      query_prefix: "query: ",
      document_prefix: "passage: ",
    },
    large: { url: endpoint.url, model: "snowflake-arctic-embed", dimension: 1024 },
    mini: { url: endpoint.url, model: "all-minilm", dimension: 384, query_prefix: "query: " },
    cut: { url: endpoint.url, model: "mxbai-embed", dimension: 512, truncate: true },
    small: { url: endpoint.url, model: "bge-base", dimension: 768, batch: 7, concurrency: 1 },
  }),
  MODEL_KEY: SECRET,
};
const api = await startApi({ env });
const owner = await api.user();
const { report } = importsOf(api, owner);

/** Texts that share words have similar vectors: one coordinate per word. */
function byWords(text: string, dimension: number): number[] {
  const vector = Array.from({ length: dimension }, () => 0);
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  for (const word of words.filter((each) => !/^(?:query|passage)$/.test(each))) {
    vector[Number(Bun.hash.crc32(word) % dimension)] = 1;
  }
  return vector;
}

beforeEach(() => {
  endpoint.instead = undefined;
  endpoint.dimension = 768;
  endpoint.embed = byWords;
});

async function projectOf(embedder?: string, user = owner): Promise<TestProject> {
  const slug = `p-${crypto.randomUUID()}`;
  const json = { name: "P", slug, ...(embedder === undefined ? {} : { embedder }) };
  const { status, body, text } = await api.post("/projects", json, user);
  expect(status, text).toBe(201);
  expect(body.embedder).toBe(embedder);
  return body as TestProject;
}

const file = (path: string, content: string) => ({
  record: "file",
  path,
  content,
  environments: ["production"],
});

const ask = (project: TestProject, json: object, user = owner) =>
  api.post(`/projects/${project.slug}/retrieve`, json, user);

async function waiting(project: TestProject): Promise<number> {
  const { body } = await api.get(`/projects/${project.slug}/index-state`, owner);
  return body.embeddings_waiting;
}

interface Hit {
  readonly score: number;
  readonly chunk: { readonly file_path: string };
}

async function found(project: TestProject, query: string): Promise<string[]> {
  const { body } = await ask(project, { query, mode: "semantic", threshold: 0.3 });
  return (body.data ?? []).map(({ chunk }: Hit) => chunk.file_path);
}

const patch = (project: TestProject, embedder: string) =>
  api.send("PATCH", `/projects/${project.slug}`, { as: owner, json: { embedder } });

describe("the embedder of a project", () => {
  test("embeds imported files and files that are put, with the operator's prefixes and key", async () => {
    const project = await projectOf("model");
    await report(project, [file("tomatoes.md", "# Tomatoes\n\nGrow red tomatoes.")]);
    const put = await api.send("PUT", `/projects/${project.slug}/files/plain.txt`, {
      as: owner,
      body: "Plain words about volcanoes.",
      headers: { "content-type": "text/plain" },
    });
    expect(put.status).toBe(201);
    await until(
      "the file that was put is found",
      async () => (await found(project, "volcanoes plain words about")).length > 0,
    );
    expect((await found(project, "grow red tomatoes"))[0]).toBe("tomatoes.md");
    expect(await waiting(project)).toBe(0);
    const texts = endpoint.served.flatMap(({ input }) => input);
    expect(texts).toContain("passage: Tomatoes\n\nTomatoes\n\nGrow red tomatoes.");
    expect(texts).toContain("query: grow red tomatoes");
    expect(new Set(endpoint.authorizations)).toEqual(new Set([`Bearer ${SECRET}`]));
    const [row] = await api.sql`
      SELECT DISTINCT embedder, dimension FROM chunks WHERE project_id = ${project.id}`;
    expect(row).toEqual({ embedder: "model:nomic-embed-text:768", dimension: 768 });
  });

  test("embeds a query once, however often a project asks it", async () => {
    const project = await projectOf("model");
    const times = () =>
      endpoint.served.filter(({ input }) => input[0] === "query: once more").length;
    for (let i = 0; i < 3; i++) await ask(project, { query: "once more" });
    expect(times()).toBe(1);
  });

  test("is named, and an unknown name is refused with those that there are", async () => {
    const refused = await api.post(
      "/projects",
      { name: "P", slug: "px", embedder: "other" },
      owner,
    );
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toEqual([
      { field: "embedder", message: "must be one of hashing, model, large, mini, cut, small" },
    ]);
    const project = await projectOf();
    expect((await patch(project, "model")).body.embedder).toBe("model");
    expect((await api.get(`/projects/${project.slug}`, owner)).body.embedder).toBe("model");
    expect((await patch(project, "http://example.com")).status).toBe(400);
  });

  test("embeds the texts that a project had before, and changes only while there are no chunks", async () => {
    const project = await projectOf();
    await report(project, [file("old.md", "# Old\n\nAn ancient text.")]);
    expect((await patch(project, "model")).status).toBe(200);
    await until("the text that was there before is found", async () =>
      (await found(project, "an ancient text")).includes("old.md"),
    );
    expect((await patch(project, "model")).status).toBe(200);
    const { status, body } = await patch(project, "large");
    expect([status, body.slug]).toEqual([409, "embedder-mismatch"]);
    expect(body.detail).toContain("model:nomic-embed-text:768");
    expect(body.detail).toContain("large:snowflake-arctic-embed:1024");
    expect(body.detail).toContain("tessera embeddings rebuild");
  });

  test("is copied with a template, and so are the files that wait for it", async () => {
    const template = await projectOf("model");
    endpoint.instead = () => new Response("busy", { status: 503 });
    await report(template, [file("copied.md", "# Copied\n\nText of a template.")]);
    const slug = `p-${crypto.randomUUID()}`;
    const json = { name: "Copy", slug, templateSlug: template.slug };
    const { body } = await api.post("/projects", json, owner);
    expect(body.embedder).toBe("model");
    endpoint.instead = undefined;
    await until("the file of the copy is found", async () =>
      (await found(body, "text of a template")).includes("copied.md"),
    );
  });

  test("of 384 dimensions is found by text, and by vectors of its own length or with zeros", async () => {
    endpoint.dimension = 384;
    const project = await projectOf("mini");
    await report(project, [file("a.md", "alpha beta"), file("b.md", "gamma delta")]);
    await until(
      "the file is embedded and found",
      async () => (await found(project, "alpha beta"))[0] === "a.md",
    );
    const [row] = await api.sql`
      SELECT DISTINCT embedder, dimension FROM chunks WHERE project_id = ${project.id}`;
    expect(row).toEqual({ embedder: "mini:all-minilm:384", dimension: 768 });
    const own = byWords("gamma delta", 384);
    const zeros = Array.from({ length: 384 }, () => 0);
    const asBytes = Buffer.from(Float32Array.from(own).buffer).toString("base64");
    const scores = new Set<number>();
    for (const json of [
      { vector: own, dimension: 384 },
      { vector: asBytes, dimension: 384 },
      { vector: [...own, ...zeros], dimension: 768 },
    ]) {
      const { status, body } = await ask(project, { ...json, threshold: 0.5 });
      expect(status).toBe(200);
      expect(body.data.map(({ chunk }: Hit) => chunk.file_path)).toEqual(["b.md"]);
      scores.add(body.data[0].score);
    }
    expect(scores.size).toBe(1);
    for (const dimension of [383, 512, 1_024]) {
      const { status, body } = await ask(project, { vector: byWords("a", dimension), dimension });
      expect([status, body.errors[0].field]).toEqual([400, "vector"]);
      expect(body.errors[0].message).toContain("mini:all-minilm:384");
    }
    const page = await ask(project, { vector: own, dimension: 384, threshold: 0, limit: 1 });
    const next = await ask(project, {
      cursor: page.body.page_info.next,
      vector: own,
      dimension: 384,
    });
    expect([next.status, next.body.data.length]).toEqual([200, 1]);
  });

  test("that truncates keeps the first elements of longer vectors", async () => {
    endpoint.dimension = 1_024;
    endpoint.served.length = 0;
    const project = await projectOf("cut");
    await report(project, [file("a.md", "alpha beta")]);
    await until(
      "the file is embedded and found",
      async () => (await found(project, "alpha beta"))[0] === "a.md",
    );
    const [row] = await api.sql<{ embedding: Uint8Array }[]>`
      SELECT embedding FROM chunks WHERE project_id = ${project.id}`;
    const stored = new Float32Array(new Uint8Array(row?.embedding ?? []).buffer);
    const whole = byWords("alpha beta", 1_024);
    expect([...stored]).toEqual([...whole.slice(0, 512), ...Array.from({ length: 256 }, () => 0)]);
    expect(endpoint.served.every(({ dimensions }) => dimensions === undefined)).toBe(true);
  });

  test("is not needed for vectors of the dimensions that can be searched, and only for those", async () => {
    const project = await projectOf();
    const vector = byWords("alpha", 384);
    const { status, body } = await ask(project, { vector, dimension: 384 });
    expect([status, body.errors[0].field]).toEqual([400, "dimension"]);
  });

  test("refuses embeddings of another one, and takes those of its own dimension", async () => {
    const project = await projectOf("model");
    const embedded = (path: string, dimension: number, embedder?: string) => ({
      record: "file",
      path,
      environments: ["production"],
      ...(embedder && { embedder }),
      chunks: [{ content: "given", embedding: byWords("given", dimension) }],
    });
    const { errors } = await report(project, [
      embedded("a.md", 1024),
      embedded("b.md", 768, "large"),
      embedded("c.md", 768, "model"),
      embedded("d.md", 768),
    ]);
    expect(errors).toEqual([
      {
        line: 1,
        message:
          "embedder: that of the project is model:nomic-embed-text:768, and the embeddings are by another one, of 1024 dimensions",
      },
      {
        line: 2,
        message:
          "embedder: that of the project is model:nomic-embed-text:768, and the embeddings are by large:snowflake-arctic-embed:1024",
      },
    ]);
    expect(await waiting(project)).toBe(0);
  });
});

let strayed = 0;
const elsewhere = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch() {
    strayed++;
    return new Response("");
  },
});
onCleanup(() => elsewhere.stop(true));

describe("an embedder that is slow or away", () => {
  const busy = () => new Response(`at ${endpoint.url}`, { status: 503 });
  /** What else an endpoint may answer is in `hostile-servers.test.ts` and `remote-embedder.test.ts`. */
  const away = {
    "does not answer": () => new Promise<Response>(() => {}),
    "redirects elsewhere": () => Response.redirect(`${elsewhere.url}v1/embeddings`, 307),
  };

  test("is away, and its answers lead nowhere else", async () => {
    const project = await projectOf("model");
    await report(project, [file("a.md", "# Alpaca\n\nAll about the alpaca.")]);
    await until(
      "the file is embedded and found",
      async () => (await found(project, "all about the alpaca")).length > 0,
    );
    for (const [what, instead] of Object.entries(away)) {
      endpoint.instead = instead;
      const query = `alpaca ${what}`;
      const [semantic, hybrid] = await Promise.all([
        ask(project, { query, mode: "semantic" }),
        ask(project, { query, mode: "hybrid" }),
      ]);
      expect([semantic.status, semantic.body.slug], what).toEqual([503, "dependency-unavailable"]);
      expect(semantic.body.detail, what).toContain("the embedder model");
      expect(semantic.headers.get("retry-after"), what).not.toBeNull();
      for (const secret of [SECRET, endpoint.url]) expect(semantic.text).not.toContain(secret);
      expect([hybrid.status, hybrid.headers.get("x-retrieval")], what).toEqual([200, "keyword"]);
      expect(hybrid.body.data[0].chunk.file_path, what).toBe("a.md");
    }
    expect(strayed, "requests that were redirected").toBe(0);
  });

  test("in one of its processes answers a query at the second try", async () => {
    const project = await projectOf("model");
    await report(project, [file("b.md", "# Beaver\n\nAll about the beaver.")]);
    const query = "everything about the beaver";
    await until("the file is embedded and found", async () =>
      (await found(project, "all about the beaver")).includes("b.md"),
    );
    const asked: number[] = [];
    endpoint.instead = ({ input }) => {
      const isQuery = input.some((text) => text.includes(query));
      if (isQuery) asked.push(input.length);
      if (isQuery && asked.length === 1) return new Response("down", { status: 502 });
      const data = input.map((text, index) => ({ index, embedding: vectorOf(text, 768) }));
      return Response.json({ data });
    };
    const { status } = await ask(project, { query, mode: "semantic" });
    expect([status, asked]).toEqual([200, [1, 1]]);
  });

  test("keeps imported files, counts them, and embeds them once it is back", async () => {
    const project = await projectOf("model");
    endpoint.instead = busy;
    const { changed } = await report(project, [
      file("late.md", "# Late\n\nA late arrival."),
      file("later.md", "# Later\n\nAn even later one."),
    ]);
    expect(changed).toBe(2);
    expect(await waiting(project)).toBe(2);
    await until("the late file is found by its words", async () => {
      const { body } = await ask(project, { query: "late arrival", mode: "keyword" });
      return body.data[0]?.chunk.file_path === "late.md";
    });
    endpoint.instead = undefined;
    await until("no file waits", async () => (await waiting(project)) === 0);
    await until("the late file is found by its meaning", async () =>
      (await found(project, "a late arrival")).includes("late.md"),
    );
  });

  test("a release that was frozen before gets the embeddings, too", async () => {
    const project = await projectOf("model");
    endpoint.instead = busy;
    await report(project, [file("frozen.md", "# Frozen\n\nIce and snow.")]);
    const named = { name: "v1", environment: "production" };
    const made = await api.post(`/projects/${project.slug}/releases`, named, owner);
    expect(made.status).toBe(201);
    endpoint.instead = undefined;
    const search = { query: "ice and snow", mode: "semantic", threshold: 0.3 };
    await until("the file of the release is found", async () => {
      const { body } = await ask(project, { ...search, target: { release: "v1" } });
      return body.data?.length > 0;
    });
  });

  test("embeddings that are stored while a scope changes are found, whichever of them is first", async () => {
    const project = await projectOf("model");
    endpoint.instead = busy;
    await report(project, [file("a.md", "# Alder\n\nAn alder tree.")]);
    await until("the file is found by its words", async () => {
      const { body } = await ask(project, { query: "alder tree", mode: "keyword" });
      return body.data.length > 0;
    });
    // As when the file came into its scope after the embedder's transaction had begun.
    const vector = Buffer.from(Float32Array.from(byWords("alder", 768)).buffer);
    await api.sql.begin(async (tx) => {
      const [chunk] = await tx<{ version: string }[]>`
        UPDATE chunks SET embedding = ${vector}, dimension = 768, embedder = 'model:nomic-embed-text:768'
        WHERE project_id = ${project.id} RETURNING file_version_id AS version`;
      await tx`DELETE FROM embedding_queue WHERE project_id = ${project.id}`;
      await tx`SELECT append_change(${project.id}, 'embedded', ${chunk?.version ?? ""}::uuid)`;
    });
    endpoint.instead = undefined;
    await until("the file is found by its meaning", async () =>
      (await found(project, "alder")).includes("a.md"),
    );
  });
});

const vectorsOf = ({ input }: EmbeddingRequest) =>
  Response.json({
    data: input.map((text, index) => ({ index, embedding: byWords(text, 768) })),
  });

async function failures(project: TestProject) {
  const { body } = await api.get(`/projects/${project.slug}/index-state`, owner);
  return { count: body.embeddings_failed, listed: body.embedding_failures };
}

describe("a text at which an embedder fails", () => {
  test("waits alone, is listed with its reason, and can be asked again", async () => {
    const project = await projectOf("model");
    endpoint.instead = (request) =>
      request.input.some((text) => text.includes("unspeakable"))
        ? new Response(`at ${endpoint.url}`, { status: 500 })
        : vectorsOf(request);
    const sections = ["Before it.", "An unspeakable word.", "After it."];
    const text = sections.map((each, i) => `# Part ${i}\n\n${each}`).join("\n\n");
    const others = Array.from({ length: 10 }, (_, i) =>
      file(`f${i}.md`, `# F${i}\n\nNumber ${i}.`),
    );
    await report(project, [...others, file("odd.md", text)]);
    await until(
      "the refused text waits alone",
      async () => (await failures(project)).count === 1 && (await waiting(project)) === 1,
    );
    const [failure] = (await failures(project)).listed;
    expect(failure.file.path).toBe("odd.md");
    expect([failure.chunk.index, failure.attempts]).toEqual([1, 1]);
    expect(failure.reason).toContain("answered 500");
    expect(failure.reason).not.toContain(endpoint.url);
    expect(Date.parse(failure.retry_at)).toBeGreaterThan(Date.now());
    await until("the parts around the refused one are found", async () =>
      (await found(project, "after it part")).includes("odd.md"),
    );
    endpoint.instead = undefined;
    expect(await retryFailures(api.sql, project.id)).toBe(1);
    await until("no file waits", async () => (await waiting(project)) === 0);
    expect(await failures(project)).toEqual({ count: 0, listed: [] });
    await until("the part that was refused is found", async () =>
      (await found(project, "an unspeakable word")).includes("odd.md"),
    );
  });

  test("is tried again after pauses that grow", async () => {
    const project = await projectOf("model");
    endpoint.instead = (request) =>
      request.input.some((text) => text.includes("unspeakable"))
        ? new Response("", { status: 500 })
        : vectorsOf(request);
    await report(project, [file("odd.md", "# Odd\n\nAn unspeakable word.")]);
    const pauses: number[] = [];
    for (let attempts = 1; attempts <= 3; attempts++) {
      await until(
        `attempt ${attempts} has failed`,
        async () => (await failures(project)).listed[0]?.attempts === attempts,
      );
      const { retry_at: at } = (await failures(project)).listed[0];
      pauses.push(Date.parse(at) - Date.now());
      await api.sql`UPDATE embedding_failures SET due = now() WHERE project_id = ${project.id}`;
      await api.sql`UPDATE embedding_queue SET due = now() WHERE project_id = ${project.id}`;
    }
    const [first = 0, second = 0, third = 0] = pauses;
    expect(second).toBeGreaterThan(first * 1.5);
    expect(third).toBeGreaterThan(second * 1.5);
  });

  test("beyond its context is embedded in parts, and none of its file waits", async () => {
    const project = await projectOf("model");
    endpoint.instead = (request) =>
      request.input.some((text) => text.length > 700)
        ? new Response("the input length exceeds the context length", { status: 400 })
        : vectorsOf(request);
    const long = `Volcanoes erupt. ${"Lava flows down. ".repeat(80)}`;
    await report(project, [file("long.md", `# Long\n\n${long}\n\n# Short\n\nA short part.`)]);
    await until("no file waits", async () => (await waiting(project)) === 0);
    expect((await failures(project)).count).toBe(0);
    await until("the long text is found", async () =>
      (await found(project, "lava flows down")).includes("long.md"),
    );
  });
});

describe("files that wait for their embeddings", () => {
  test("of one tenant do not hold up those of another", async () => {
    const other = await api.user();
    const [mine, theirs] = [await projectOf("model"), await projectOf("model", other)];
    let refused = 0;
    endpoint.instead = () => {
      refused++;
      return new Response("", { status: 503 });
    };
    const many = Array.from({ length: 240 }, (_, i) => file(`f${i}.md`, `# F${i}\n\nNumber ${i}.`));
    await report(mine, many);
    await importsOf(api, other).report(theirs, [file("one.md", "# One\n\nA single file.")]);
    // A pass that the embedder answers in part blames the texts that it has refused.
    await until("the embedder has refused, and no pass is under way", async () => {
      const claimed = await api.sql`
        SELECT FROM embedding_queue WHERE project_id IN (${mine.id}, ${theirs.id}) AND due > now()`;
      return refused > 0 && claimed.length === 0;
    });
    const texts: string[] = [];
    endpoint.instead = (request) => {
      texts.push(...request.input);
      return vectorsOf(request);
    };
    await until("no file of the first tenant waits", async () => (await waiting(mine)) === 0);
    endpoint.instead = undefined;
    const place = texts.findIndex((text) => text.includes("A single file."));
    expect(place).toBeWithin(0, texts.length / 2);
  });

  test("are sent in requests of the configured size and number", async () => {
    const project = await projectOf("small");
    let [running, most, largest] = [0, 0, 0];
    endpoint.instead = async (request) => {
      most = Math.max(most, ++running);
      largest = Math.max(largest, request.input.length);
      await Bun.sleep(5);
      running--;
      return vectorsOf(request);
    };
    const many = Array.from({ length: 20 }, (_, i) => file(`c${i}.txt`, `Number ${i}.`));
    await report(project, many);
    await until("no file waits", async () => (await waiting(project)) === 0);
    expect([most, largest]).toEqual([1, 7]);
  });

  test("are embedded once by two nodes, and by either of them", async () => {
    const project = await projectOf("model");
    const node = await startApi({ env, beside: api });
    const texts = Array.from({ length: 40 }, (_, i) => `Twice ${i} is nice.`);
    endpoint.served.length = 0;
    await report(
      project,
      texts.map((text, i) => file(`t${i}.txt`, text)),
    );
    await until("no file waits", async () => (await waiting(project)) === 0);
    const sent = endpoint.served.flatMap(({ input }) => input).filter((t) => t.includes("Twice"));
    expect(sent.length).toBe(texts.length);
    await node.stop();
  });
});

describe("a project never has embeddings of another embedder:", () => {
  const embedded = {
    ...file("a.md", "# A"),
    chunks: [{ content: "A", embedding: Array.from({ length: 1024 }, (_, i) => i + 1) }],
  };
  const start = async () => {
    const project = await projectOf();
    await report(project, [file("a.md", "a")]);
    return project;
  };
  const fingerprintOf = async (embedder: string) => {
    const { id } = await projectOf(embedder);
    const [row] = await api.sql`SELECT embedder FROM projects WHERE id = ${id}`;
    return row?.["embedder"] as string;
  };

  test("an import sees that the project has just got one", async () => {
    const project = await start();
    const fingerprint = await fingerprintOf("model");
    const { refused, errors } = await beforeCommit(
      api.sql,
      (tx) => tx`UPDATE projects SET embedder = ${fingerprint} WHERE id = ${project.id}`,
      () => report(project, [embedded]),
    );
    expect(refused).toBe(1);
    expect(errors[0].message).toStartWith("embedder: that of the project is");
  });

  test.each(["a request", "an import"])(
    "%s that gives it one sees what an import has just stored",
    async (way) => {
      const project = await start();
      const storing = (tx: Transaction) => tx`
        WITH held AS (SELECT id FROM projects WHERE id = ${project.id} FOR KEY SHARE)
        INSERT INTO chunks (id, project_id, file_id, file_version_id, file_path, index, content,
          dimension, embedding)
        SELECT gen_random_uuid(), v.project_id, v.file_id, v.id, 'a.md', 0, 'A', 768,
          decode(repeat('01', 4 * 768), 'hex')
        FROM file_versions v JOIN held ON held.id = v.project_id`;
      const { slug } = project;
      const record = { record: "project", slug, name: "P", owner: owner.userId, embedder: "model" };
      const said = await beforeCommit(api.sql, storing, async () => {
        if (way === "an import") return (await report(project, [record])).errors[0].message;
        const json = { embedder: "model" };
        return (await api.send("PATCH", `/projects/${slug}`, { as: owner, json })).body.detail;
      });
      expect(said).toContain("The project has chunks of the embedder none");
    },
  );
});
