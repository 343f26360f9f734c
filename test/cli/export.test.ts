import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generateKey } from "../../src/auth/key-format.ts";
import { temporaryFolder } from "../../support/folders.ts";
import {
  ADA,
  base64Of,
  contentsOf,
  DOCS,
  dump,
  openCli,
  PRODUCTION,
  type TestCli,
  vector,
} from "./support.ts";

const [branch, conversation, personal] = [randomUUID(), randomUUID(), randomUUID()];
const [parent, child] = [randomUUID(), randomUUID()];
const AT = "2026-01-02T03:04:05.678Z";

/** Records of every kind, with every field. */
const RECORDS = [
  { ...ADA, role: "admin", avatar_src: "https://example.com/a.png" },
  { record: "user", id: randomUUID(), name: "Without an address" },
  { record: "user", email: "grace@example.com", name: "Grace" },
  {
    ...{ ...DOCS, description: "d", features: ["f", "g"], config: { a: { b: [1, 2.5] } } },
    ...{ is_claimed: false, prompt_count: 7, provider: "github", layout: "flat", published_at: AT },
    members: [{ user: "grace@example.com", role: "editor" }],
  },
  { record: "project", slug: "other", name: "Other", owner: "grace@example.com" },
  {
    ...{ record: "api_key", user: "ada@example.com", name: "k", key: generateKey() },
    ...{ project: "docs", scopes: ["search.query"], expires_at: "2090-01-01T00:00:00.000Z" },
  },
  {
    ...{ ...PRODUCTION, protected: true, domains: ["example.com"], server_hostname: "h" },
    ...{ environment_variables: [{ name: "A", value: "b" }], active_release: "v1" },
  },
  { record: "environment", project: "docs", name: "staging" },
  { record: "release", project: "docs", name: "empty", build_status: "failure" },
  {
    ...{ record: "file", project: "docs", path: "a.md", environments: ["production", "staging"] },
    ...{ releases: ["v1"], content: '# A\n\nText with \u2028 and "quotes"', version_key: "one" },
    chunks: [
      { content: "A", embedding: base64Of(vector(768, 1)), metadata: { page: 1, ratio: 0.1 } },
      { index: 5, content: "Text", start_offset: 5, end_offset: 9, token_count: 3 },
    ],
  },
  { record: "file", project: "docs", path: "a.md", environments: ["staging"], content: "newer" },
  { record: "file", project: "other", path: "b.bin" },
  { record: "branch", id: branch, project: "docs", name: "main" },
  { record: "branch_approval", branch_id: branch, approved_by: randomUUID(), approved_at: AT },
  {
    record: "status_check",
    branch_id: branch,
    check_name: "ci",
    status: "success",
    created_at: AT,
  },
  { record: "conversation", id: conversation, project_id: "docs", created_by: "x", title: "t" },
  { record: "conversation", id: personal, created_by: "y", created_at: AT },
  {
    ...{ record: "message", id: parent, conversation_id: conversation, seq: 2, role: "user" },
    parts: [{ type: "text", text: "hello" }],
  },
  {
    ...{ record: "message", id: child, conversation_id: conversation, seq: 1, role: "assistant" },
    ...{ parent_id: parent, token_usage: { input: 1 }, cost_credits: "0.10" },
  },
  {
    ...{ record: "input_request", conversation_id: conversation, status: "submitted", title: "q" },
    ...{ fields: [{ name: "a", type: "text" }], created_at: AT, submitted_at: AT },
    latest_response: { actor_id: "x", values: { a: "1" }, created_at: AT },
  },
  { record: "webhook_definition", id: "hook", project: "docs", secret: "s", enabled: false },
];

async function exported(cli: TestCli, ...options: string[]): Promise<string> {
  const result = await cli.run(["export", ...options]);
  expect(result.status, result.stderr).toBe(0);
  return result.stdout;
}

/** An export without what an import sets to its own time. */
const comparable = (text: string) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const { created_at: _, updated_at: __, ...record } = JSON.parse(line);
      return record;
    });

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
      ["release", "v1"],
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
    expect(records.map(({ record }) => record)).toEqual(["user", "project", "file"]);
    expect(JSON.stringify(records)).not.toContain("ada@example.com");
    const unknown = await cli.run(["export", "--project", "nope"]);
    expect(unknown).toMatchObject({ status: 1, stdout: "" });
  });

  test("hashes of secrets are exported on request only", async () => {
    const cli = await openCli();
    await cli.import(RECORDS);
    const text = await exported(cli);
    expect(text).not.toMatch(/hash|"api_key"|"webhook_definition"/);
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
