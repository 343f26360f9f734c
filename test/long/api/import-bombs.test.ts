import { describe, expect, test } from "bun:test";
import {
  IMPORT_CHUNK_MAX_CHARS,
  IMPORT_EXPANSION_FREE_BYTES,
  IMPORT_EXPANSION_MAX,
  IMPORT_RECORD_MAX_CHARS,
  IMPORT_REFUSED_MAX,
  JSON_MAX_DEPTH,
} from "../../../src/domain/limits.ts";
import { sharedApi, type TestProject } from "../../../support/api/api.ts";
import { allChanged, file, importsOf, PRODUCTION } from "../../../support/api/imports.ts";
import { addConversation } from "../../../support/content.ts";
import { ndjson } from "../../../support/ndjson.ts";
import { randomNumbers } from "../../../support/random.ts";
import { until } from "../../../support/until.ts";

const api = await sharedApi();
const owner = await api.user();
const { report, working } = importsOf(api, owner);
const TYPE = { "content-type": "application/x-ndjson" };

const pack = {
  gzip: (text: string) => Bun.gzipSync(new TextEncoder().encode(text)),
  zstd: (text: string) => new Uint8Array(Bun.zstdCompressSync(text)),
};
const encodings = Object.keys(pack) as Array<keyof typeof pack>;

function send(
  project: TestProject,
  body: Uint8Array<ArrayBuffer> | string,
  encoding = "identity",
  query = "",
) {
  const headers = { ...TYPE, "content-encoding": encoding };
  return api.send("POST", `/projects/${project.slug}/import${query}`, { as: owner, body, headers });
}

/** Text that compresses little. */
function noise(chars: number): string {
  const random = randomNumbers(3);
  return Array.from({ length: chars / 8 }, () => random().toString(36).slice(2, 10)).join("");
}

describe("a small body that expands to much", () => {
  const units = ["\n", " \r\n", `${JSON.stringify(PRODUCTION)}\n`, "x", "[", '{"record":'];
  test.each(units)("of %j is answered 413, strict or not", async (unit) => {
    const project = await api.project(owner);
    const text = unit.repeat((3 * IMPORT_EXPANSION_FREE_BYTES) / unit.length);
    for (const [encoding, query] of [
      ["gzip", ""],
      ["zstd", "?strict=true"],
    ] as const) {
      const answer = await send(project, pack[encoding](text), encoding, query);
      expect(answer.status).toBe(413);
      expect(answer.body.detail).toContain(`${IMPORT_EXPANSION_MAX} times`);
    }
  });

  test("leaves the service to go on", async () => {
    const project = await api.project(owner);
    expect(await report(project, [PRODUCTION, file("a.md")])).toMatchObject({ refused: 0 });
  });

  test("is imported when its bytes expand as those of documents do, or are few", async () => {
    const project = await api.project(owner);
    const content = noise(40_000);
    const files = Array.from({ length: 60 }, (_, i) => file(`${i}.md`, { content }));
    const beginnings = files.map((line, i) => ({
      ...line,
      content: content.slice(0, 8_000 + i * 8),
    }));
    for (const encoding of encodings) {
      const few = await send(
        project,
        pack[encoding](ndjson([PRODUCTION, ...files.slice(0, 20)])),
        encoding,
      );
      expect(few.status).toBe(200);
      expect((await send(project, pack[encoding](ndjson(beginnings)), encoding)).status).toBe(200);
    }
  });
});

describe("an import of lines that are refused", () => {
  test("stops after so many as no mistake explains, with 400 that says so, and changes no scope", async () => {
    const project = await api.project(owner);
    await report(project, [PRODUCTION]);
    const text = ndjson([file("a.md")]) + "{}\n".repeat(IMPORT_REFUSED_MAX + 1);
    const answer = await send(project, pack.zstd(text), "zstd", "?strict=true");
    expect(answer.status).toBe(400);
    expect(answer.body.slug).toBe("validation-failed");
    expect(answer.body.detail).toContain(`More than ${IMPORT_REFUSED_MAX} lines are refused`);
    expect(await working(project)).toEqual([]);
  });

  test("counts lines that the database refuses as well", async () => {
    const project = await api.project(owner);
    const line = ndjson([
      { record: "branch_approval", branch_id: project.id, approved_by: project.id },
    ]);
    const answer = await send(project, line.repeat(IMPORT_REFUSED_MAX + 1));
    expect(answer.status, answer.text).toBe(400);
  });
});

test("blank lines of all sorts are no lines, and later ones keep their numbers", async () => {
  const project = await api.project(owner);
  const blank = `${"\n".repeat(5_000_000)}${" \n".repeat(1_000_000)}${"\t\r\n".repeat(1_000_000)}`;
  const answer = await send(project, `${blank}${JSON.stringify(PRODUCTION)}\n{\n`);
  expect(answer.body).toMatchObject({ lines: 2, changed: 1, refused: 1 });
  expect(answer.body.errors[0].line).toBe(7_000_002);
});

test("an import whose client leaves after its upload stops, changes no scope and frees its place", async () => {
  const project = await api.project(owner);
  await report(project, [PRODUCTION]);
  const chunks = Array.from({ length: 20 }, (_, i) => ({ content: `chunk ${i}` }));
  const files = Array.from({ length: 2_500 }, (_, i) => file(`${i}.md`, { chunks }));
  const body = pack.gzip(ndjson(files));
  const stored = async () => {
    const [row] = await api.sql`
      SELECT count(*)::integer AS count FROM files WHERE project_id = ${project.id}`;
    return row?.["count"] as number;
  };
  const running = async () =>
    (
      await api.sql`SELECT FROM pg_stat_activity
      WHERE application_name = 'tessera-import' AND datname = current_database()`
    ).length > 0;
  const controller = new AbortController();
  const answer = fetch(`${api.url}/projects/${project.slug}/import`, {
    method: "POST",
    headers: { ...TYPE, ...owner.headers, "content-encoding": "gzip" },
    body,
    signal: controller.signal,
  });
  answer.catch(() => {});
  await until("a file is stored", async () => (await stored()) > 0);
  controller.abort();
  await until("the import has ended", async () => !(await running()));
  expect(await stored()).toBeLessThan(files.length);
  expect(await working(project)).toEqual([]);
  expect(await report(project, [file("a.md")])).toEqual(allChanged(1));
});

test("a record with more text than memory is meant for is refused, and no other line", async () => {
  const project = await api.project(owner);
  const words = "a b c d e f g h ".repeat(IMPORT_CHUNK_MAX_CHARS / 16);
  const parts = IMPORT_RECORD_MAX_CHARS / IMPORT_CHUNK_MAX_CHARS;
  const chunks = Array.from({ length: parts }, () => ({ content: words.slice(2) }));
  const body = await report(project, [
    PRODUCTION,
    file("chunk.md", { chunks: [{ content: `${words}a` }] }),
    file("metadata.md", { chunks: [{ content: "a", metadata: { words } }] }),
    file("all.md", { content: words.repeat(2), chunks }),
    { record: "conversation", created_by: "x", metadata: { words: words.repeat(parts) } },
    file("allowed.md", { content: words.repeat(2), chunks: chunks.slice(0, 2) }),
  ]);
  expect(body).toMatchObject({ changed: 2, refused: 4 });
  expect(body.errors[0].message).toContain(`at most ${IMPORT_CHUNK_MAX_CHARS} characters`);
  expect(body.errors[2].message).toContain(`at most ${IMPORT_RECORD_MAX_CHARS} characters`);
  expect(await working(project)).toEqual(["allowed.md"]);
});

describe("a compressed upload that broke off", () => {
  const files = Array.from({ length: 100 }, (_, i) =>
    file(`${i}.md`, { content: noise(96 + 8 * (i % 40)) }),
  );
  const cases = encodings.flatMap((encoding) =>
    ["", "?strict=true"].map((query) => [encoding, query] as const),
  );
  test.each(cases)(
    "with %s and %p is answered 400 and changes no scope",
    async (encoding, query) => {
      const project = await api.project(owner);
      await report(project, [PRODUCTION]);
      const whole = pack[encoding](ndjson(files));
      const twice = new Uint8Array(Buffer.concat([whole, whole.subarray(0, whole.length - 3)]));
      const cuts = [whole.length >> 1, whole.length - 1];
      const broken = [...cuts.map((cut) => whole.slice(0, cut)), twice];
      for (const body of broken) {
        const answer = await send(project, body, encoding, query);
        expect(answer.status, answer.text).toBe(400);
        expect(answer.body.slug).toBe("validation-failed");
        expect(await working(project)).toEqual([]);
      }
      const answer = await send(project, whole, encoding, query);
      expect(answer.body).toMatchObject({ lines: files.length, refused: 0 });
      expect(await working(project)).toHaveLength(files.length);
    },
  );

  test.each(encodings)("that is not %s at all is answered 400", async (encoding) => {
    const project = await api.project(owner);
    for (const body of [ndjson([PRODUCTION]), new Uint8Array(50)]) {
      expect((await send(project, body, encoding)).status).toBe(400);
    }
  });
});

describe("deeply nested JSON", () => {
  const nested = (levels: number, open = "[", close = "]") =>
    `${open.repeat(levels)}1${close.repeat(levels)}`;
  test("refuses its line and no other, wherever it stands", async () => {
    const project = await api.project(owner);
    const id = await addConversation(api.sql, owner, project);
    const deep = [
      nested(30_000),
      nested(30_000, '{"a":', "}"),
      nested(200_000, '[{"a":', "}]"),
      nested(JSON_MAX_DEPTH + 1),
    ];
    const lines = deep.flatMap((value) => [
      `{"record":"environment","name":"e","environment_variables":[${value}]}`,
      `{"record":"project","slug":"${project.slug}","name":"x","owner":"${owner.userId}","config":{"a":${value}}}`,
      `{"record":"conversation","created_by":"x","metadata":{"a":${value}}}`,
      `{"record":"message","conversation_id":"${id}","seq":1,"role":"user","parts":[${value}]}`,
      `{"record":"message","conversation_id":"${id}","seq":1,"role":"user","token_usage":{"a":${value}}}`,
      `{"record":"input_request","conversation_id":"${id}","fields":[${value}]}`,
      `{"record":"file","path":"a.md","chunks":[{"content":"c","metadata":{"a":${value}}}]}`,
      `{"record":"release","name":"r","unknown":${value}}`,
      value,
    ]);
    const body = await report(project, [...lines, PRODUCTION]);
    expect(body).toMatchObject({ lines: lines.length + 1, changed: 1, refused: lines.length });
  });

  test("that is nested as deeply as allowed is stored", async () => {
    const project = await api.project(owner);
    const value = nested(JSON_MAX_DEPTH - 2);
    const line = `{"record":"conversation","created_by":"x","metadata":{"a":${value}}}`;
    expect(await report(project, [line])).toEqual(allChanged(1));
  });
});
