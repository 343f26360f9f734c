import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folders.ts";
import { everyKind, file, ID } from "./every-kind.ts";
import { base64Vector, contentsOf, dump, openCli, type TestCli } from "./support.ts";

const AT = "2026-01-02T03:04:05.678Z";

/** Records of every kind, and those with which an export has to take care. */
const RECORDS = [
  ...everyKind(),
  { record: "user", id: randomUUID(), name: "Without an address" },
  { record: "project", slug: "other", name: "Other", owner: "bob@example.com" },
  { record: "release", project: "docs", name: "empty", build_status: "failure" },
  {
    ...file("b.md", { environments: ["production", "staging"], releases: ["v3"] }),
    content: '# A\n\nText with \u2028 and "quotes"',
    version_key: "one",
    chunks: [
      { content: "A", embedding: base64Vector(768, 1), metadata: { page: 1, ratio: 0.1 } },
      { index: 5, content: "Text", start_offset: 5, end_offset: 9, token_count: 3 },
    ],
  },
  file("b.md", { environments: ["staging"], content: "newer" }),
  file("b.bin", { project: "other" }),
  { record: "conversation", id: ID(8), created_by: "y", created_at: AT },
  { record: "message", conversation_id: ID(8), id: ID(9), seq: 2, role: "user" },
  { record: "message", conversation_id: ID(8), parent_id: ID(9), seq: 1, role: "assistant" },
];

async function exported(cli: TestCli, ...options: string[]): Promise<string> {
  const result = await cli.run(["export", ...options]);
  expect(result.status, result.stderr).toBe(0);
  return result.stdout;
}

/** An export without what an import sets to its own time, of which the order of releases follows. */
const comparable = (text: string) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const { created_at: _, updated_at: __, ...record } = JSON.parse(line);
      return record;
    })
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

describe("export", () => {
  test("everything comes back from an export that is imported into an empty database", async () => {
    const cli = await openCli();
    const imported = await cli.import(RECORDS);
    expect(imported.stderr.trimEnd().split("\n")).toEqual([
      expect.stringContaining("1 file record names no environments and no releases"),
    ]);
    const text = await exported(cli, "--credentials");
    const other = await openCli();
    const again = await other.run(["import", "--strict", "-"], text);
    expect(again.status, again.stderr).toBe(0);
    expect(again.stderr).toContain("1 file record names no environments");
    expect(comparable(await exported(other, "--credentials"))).toEqual(comparable(text));
    for (const [kind, name] of [
      ["environment", "production"],
      ["environment", "staging"],
      ["release", "v3"],
    ] as const) {
      expect(await contentsOf(other.sql, kind, name)).toEqual(
        await contentsOf(cli.sql, kind, name),
      );
    }
    const tables = async (of: TestCli) => {
      const { chunks, files, api_keys, webhook_definitions } = await dump(of.sql);
      const untimed = (rows: string[] = []) =>
        rows.map((row) => row.replace(/"(created|updated)_at":"[^"]*"/g, "")).sort();
      return [chunks, files, api_keys, webhook_definitions].map(untimed);
    };
    expect(await tables(other)).toEqual(await tables(cli));
  });

  test("a project is exported with its members and nothing of other projects", async () => {
    const cli = await openCli();
    await cli.import(RECORDS);
    const records = comparable(await exported(cli, "--project", "other"));
    expect(records.map(({ record }) => record)).toEqual(["file", "project", "user"]);
    expect(JSON.stringify(records)).not.toContain("Ada@Example.com");
    const unknown = await cli.run(["export", "--project", "nope"]);
    expect(unknown).toMatchObject({ status: 1, stdout: "" });
  });

  test("hashes of secrets are exported on request only, and those of revoked keys never", async () => {
    const cli = await openCli();
    await cli.import(RECORDS);
    const text = await exported(cli);
    expect(text).not.toMatch(/hash|"api_key"|"webhook_definition"/);
    await cli.sql`UPDATE api_keys SET revoked_at = now()`;
    expect(await exported(cli, "--credentials")).not.toContain('"record":"api_key"');
  });

  test("a compressed file is imported again", async () => {
    const cli = await openCli();
    await cli.import(RECORDS);
    const folder = temporaryFolder("export");
    for (const name of ["all.ndjson", "all.ndjson.gz", "all.ndjson.zst"]) {
      const path = join(folder, name);
      expect((await cli.run(["export", "--output", path])).stdout).toBe("");
      const result = await cli.run(["import", path]);
      expect(result.stdout, result.stderr).toContain("nothing changed");
    }
    expect(readFileSync(join(folder, "all.ndjson"), "utf8")).toBe(await exported(cli));
  });
});
