import { beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { temporaryFolder } from "../../support/folders.ts";
import { base64Vector, dump, openCli, type TestCli, vector } from "./support.ts";

let cli: TestCli;
beforeEach(async () => {
  cli = await openCli();
});

const folder = temporaryFolder("tables");
const MAP = ["--map", "id=_id,text=text,embedding=emb", "--project", "docs"];

async function chunks(): Promise<Record<string, unknown>[]> {
  return await cli.sql`
    SELECT c.file_path AS path, c.index, c.content, c.metadata, encode(c.embedding, 'base64') AS vector,
      v.content AS file, c.dimension
    FROM chunks c JOIN file_versions v ON v.id = c.file_version_id ORDER BY file_path, index`;
}

const wrapped = (text: unknown) => String(text).replaceAll("\n", "");

describe("import --map", () => {
  test("reads bytes that are text, leaves out those that are not, and keeps the text of a null embedding", async () => {
    const bytes = (...texts: (string | number[])[]) =>
      texts.map((each) => new Uint8Array(Buffer.from(each as string)));
    const floats = Buffer.from(base64Vector(768, 1), "base64");
    const file = join(folder, "bytes.parquet");
    const columnData = [
      { name: "_id", data: bytes("a.md", "b.md", "c.md"), type: "BYTE_ARRAY" as const },
      { name: "text", data: bytes("eins", "zwei", [0xff, 0xfe]), type: "BYTE_ARRAY" as const },
      { name: "emb", data: [new Uint8Array(floats), null, null], type: "BYTE_ARRAY" as const },
      { name: "note", data: bytes("é", "n", "n"), type: "BYTE_ARRAY" as const },
      { name: "image", data: bytes([0xff, 1], [0xff, 2], [0xff]), type: "BYTE_ARRAY" as const },
    ];
    writeFileSync(file, new Uint8Array(parquetWriteBuffer({ columnData })));
    const none = join(folder, "none.jsonl");
    writeFileSync(none, "");
    const nothing = join(folder, "none.parquet");
    writeFileSync(nothing, "");
    const result = await cli.run(["import", file, none, nothing, ...MAP]);
    expect(result.stderr).toContain(`${file}: image is binary and is left out of the metadata`);
    expect(result.stderr.split("image is binary")).toHaveLength(2);
    expect(result.stderr).toContain(`${file}:3: text: is not valid UTF-8`);
    for (const each of [none, nothing]) expect(result.stderr).toContain(`${each}: has no rows`);
    expect(result.status).toBe(1);
    const found = await chunks();
    expect(found).toMatchObject([
      { path: "a.md", content: "eins", metadata: { note: "é" }, dimension: 768 },
      { path: "b.md", content: "zwei", metadata: { note: "n" }, dimension: null },
    ]);
    expect(wrapped(found[0]?.["vector"])).toBe(base64Vector(768, 1));
    expect(found[0]?.["metadata"]).not.toHaveProperty("image");
  });

  test("imports JSON lines: rows in succession are chunks of a file, other columns metadata", async () => {
    const lines = [
      { _id: "a.md", text: "one", emb: vector(768, 1), lang: "en", page: 1 },
      { _id: "a.md", text: "two", emb: base64Vector(768, 2), lang: "en", page: 2 },
      { _id: 7, text: "three", emb: vector(1024, 3), nested: { a: [1, null] } },
    ];
    const result = await cli.import(lines, ...MAP);
    expect(result.status, result.stderr).toBe(0);
    expect(result.stderr).toContain("The project docs was created and belongs to owner@localhost");
    const found = await chunks();
    expect(found).toMatchObject([
      {
        path: "7",
        index: 0,
        content: "three",
        metadata: { nested: { a: [1, null] } },
        dimension: 1024,
      },
      { path: "a.md", index: 0, content: "one", metadata: { lang: "en", page: 1 }, dimension: 768 },
      {
        path: "a.md",
        index: 1,
        content: "two",
        metadata: { lang: "en", page: 2 },
        file: "one\n\ntwo",
      },
    ]);
    expect(wrapped(found[1]?.["vector"])).toBe(base64Vector(768, 1));
    expect(wrapped(found[2]?.["vector"])).toBe(base64Vector(768, 2));
    const before = await dump(cli.sql);
    const again = await cli.import(lines, ...MAP);
    expect(again.stdout).toContain("nothing changed");
    expect(await dump(cli.sql)).toEqual(before);
  });

  test("imports Parquet with vectors, integers of 64 bits and times", async () => {
    const file = join(folder, "points.parquet");
    const count = 1_300;
    const ids = Array.from({ length: count }, (_, i) => `doc-${String(i).padStart(4, "0")}`);
    const buffer = parquetWriteBuffer({
      columnData: [
        { name: "_id", data: ids },
        { name: "text", data: ids.map((id) => `text of ${id}`) },
        { name: "emb", data: ids.map((_, i) => vector(768, i)) },
        { name: "count", data: ids.map((_, i) => BigInt(i)), type: "INT64" },
        {
          name: "at",
          data: ids.map(() => new Date("2026-01-02T03:04:05.000Z")),
          type: "TIMESTAMP",
        },
      ],
    });
    writeFileSync(file, new Uint8Array(buffer));
    const result = await cli.run(["import", file, ...MAP]);
    expect(result.status, result.stderr).toBe(0);
    const found = await chunks();
    expect(found).toHaveLength(count);
    expect(found[1_299]).toMatchObject({
      path: "doc-1299",
      content: "text of doc-1299",
      metadata: { count: 1_299, at: "2026-01-02T03:04:05.000Z" },
    });
    expect(wrapped(found[1_299]?.["vector"])).toBe(base64Vector(768, 1_299));
  });

  test("embeds texts when the map names no embedding", async () => {
    const lines = [{ key: "a", body: "Snapshots of an index." }];
    const result = await cli.import(lines, "--map", "id=key,text=body", "--project", "docs");
    expect(result.status, result.stderr).toBe(0);
    expect(await chunks()).toMatchObject([{ path: "a", dimension: 768, metadata: {} }]);
  });

  test("names each row that is wrong and imports the others, or nothing with --strict", async () => {
    const lines = [
      { _id: "a", text: "good", emb: vector(768, 1) },
      "{",
      { text: "no id", emb: vector(768, 1) },
      { _id: "b", text: 5, emb: vector(768, 1) },
      { _id: "c", text: "c", emb: [] },
      { _id: "d", text: "d" },
    ];
    const path = cli.file(lines);
    const strict = await cli.run(["import", "--strict", path, ...MAP]);
    expect(strict.status).toBe(1);
    expect(strict.stdout).toContain("nothing imported");
    expect(await chunks()).toEqual([]);
    const result = await cli.run(["import", path, ...MAP]);
    expect(result.status).toBe(1);
    for (const report of [
      `${path}:2: is not valid JSON`,
      `${path}:3: _id: must be text or a number`,
      `${path}:4: text: must be text`,
      `${path}:5: chunks[0].embedding: has 0 elements`,
      `${path}:6: emb: must be an array of numbers or a base64 string`,
    ]) {
      expect(result.stderr).toContain(report);
    }
    expect(await chunks()).toMatchObject([{ path: "a" }]);
  });

  test("wrong maps, files and presets are refused without a change", async () => {
    const before = await dump(cli.sql);
    const path = cli.file([]);
    const project = ["--project", "docs"];
    for (const args of [
      ["import", path, "--map", "id=_id", ...project],
      ["import", path, "--map", "id=_id,words=text", ...project],
      ["import", path, "--map", "nonsense", ...project],
      ["import", path, "--map", "id=_id,text=text"],
      ["import", "points.parquet"],
      ["import", path, ...MAP, "--prune"],
      ["import", "--markdown", "docs", ...MAP],
      ["embed", "text", "--embed", "nonsense"],
      ["embed", "text", "--embed", "ollama", "--embed-url", "http://x", "--embed-model", "m"],
    ]) {
      const result = await cli.run(args);
      expect(result, args.join(" ")).toMatchObject({ status: 2, stdout: "" });
    }
    expect(await dump(cli.sql)).toEqual(before);
    const broken = join(folder, "broken.parquet");
    writeFileSync(broken, "no parquet");
    const unreadable = await cli.run(["import", broken, ...MAP]);
    expect(unreadable.status).toBe(1);
    expect(unreadable.stderr).toContain("broken.parquet cannot be read as Parquet");
    expect(await chunks()).toEqual([]);
  });
});
