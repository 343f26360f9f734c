import { beforeEach, describe, expect, test } from "bun:test";
import { base64Of } from "../../src/domain/vector.ts";
import { ndjson } from "../../support/ndjson.ts";
import { everyKind, file, ID } from "./every-kind.ts";
import {
  ADA,
  base64Vector,
  contentsOf,
  DOCS,
  dump,
  FRAME,
  openCli,
  PRODUCTION,
  type TestCli,
  vector,
} from "./support.ts";

let cli: TestCli;
beforeEach(async () => {
  cli = await openCli();
});

describe("an import of every record kind", () => {
  test("stores each record, with defaults for omitted fields", async () => {
    const { sql } = cli;
    const result = await cli.import(everyKind());
    expect(result).toMatchObject({ status: 0, stderr: "" });
    expect(result.stdout).toContain("imported 17 records");

    const users = await sql`SELECT id, email, name, role, avatar_src FROM users ORDER BY email`;
    expect([...users]).toMatchObject([
      { id: ID(1), email: "Ada@Example.com", role: "admin", avatar_src: "a.png" },
      { email: "bob@example.com", name: "Bob", role: "member", avatar_src: "" },
    ]);
    const [project] = await sql`SELECT * FROM projects`;
    expect(project).toMatchObject({
      id: ID(2),
      features: ["plain", 'with "quotes", \\ and {braces}', "NULL"],
      config: { branch_protection: { required_approvals: 2 } },
    });
    const members =
      await sql`SELECT user_id = ${ID(1)} AS ada, role FROM memberships ORDER BY role`;
    expect([...members]).toEqual([
      { ada: false, role: "member" },
      { ada: true, role: "owner" },
    ]);
    const [environment] = await sql`
      SELECT e.*, r.name AS active FROM environments e JOIN releases r ON r.id = active_release_id`;
    expect(environment).toMatchObject({
      name: "production",
      protected: true,
      domains: ["docs.example.com"],
      environment_variables: [{ key: "A", value: "1" }],
      server_hostname: "host",
      active: "v1",
    });
    const chunks = await sql`
      SELECT index, content, file_path, start_offset, end_offset, token_count, metadata, dimension,
        encode(embedding, 'base64') AS embedding FROM chunks ORDER BY index`;
    expect(
      chunks.map(
        (chunk): Record<string, unknown> => ({
          ...chunk,
          embedding: chunk["embedding"].replace(/\n/g, ""),
        }),
      ),
    ).toEqual([
      {
        index: 0,
        content: "hello",
        file_path: "a.md",
        start_offset: 0,
        end_offset: 5,
        token_count: 2,
        metadata: {},
        dimension: 768,
        embedding: base64Vector(768, 1),
      },
      {
        index: 1,
        content: "world",
        file_path: "a.md",
        start_offset: 11,
        end_offset: 16,
        token_count: 2,
        metadata: { a: null, b: 1 },
        dimension: 1024,
        embedding: base64Vector(1024, 2),
      },
    ]);
    const [version] = await sql`SELECT content, chunk_count FROM file_versions`;
    expect(version).toEqual({ content: "hello wide world", chunk_count: 2 });
    const releases = await sql`SELECT name, build_status, frozen_at FROM releases ORDER BY name`;
    expect([...releases]).toMatchObject([
      { name: "v1", build_status: "pending", frozen_at: expect.any(Date) },
      { name: "v2", build_status: "done", frozen_at: expect.any(Date) },
    ]);
    expect(await contentsOf(sql, "release", "v1")).toEqual(await contentsOf(sql, "release", "v2"));
    const [conversation] = await sql`SELECT * FROM conversations`;
    expect(conversation).toMatchObject({
      project_id: ID(2),
      created_by: ID(1),
      type: "chat",
      status: "active",
      message_count: 7,
      last_message_at: new Date("2026-01-02T00:00:00Z"),
    });
    const [response] = await sql`SELECT values::text AS text, actor_type FROM input_responses`;
    expect(response).toEqual({ text: '{"z":1,"a":[1,2]}', actor_type: "human" });
    const secrets = await sql`
      SELECT (SELECT secret_hash FROM webhook_definitions) AS secret,
        (SELECT octet_length(key_hash) FROM api_keys) AS key_bytes`;
    const hash = new Bun.CryptoHasher("sha256").update("s3cret").digest("hex");
    expect(Buffer.from(secrets[0]?.["secret"]).toString("hex")).toBe(hash);
    expect(secrets[0]?.["key_bytes"]).toBe(32);
  });

  test("changes nothing when repeated, not even the change log", async () => {
    const records = everyKind();
    const path = cli.file(records);
    expect((await cli.run(["import", path])).status).toBe(0);
    const first = await dump(cli.sql);
    const second = await cli.run(["import", path]);
    expect(second).toMatchObject({ status: 0, stderr: "" });
    expect(second.stdout).toContain("nothing changed");
    expect(await dump(cli.sql)).toEqual(first);
  });

  test("derives the same ids in every database for records without ids", async () => {
    const records = [
      ...FRAME,
      file("a.md", { content: "a", environments: ["production"], chunks: [{ content: "a" }] }),
      { record: "branch", project: "docs", name: "main" },
    ];
    await cli.import(records);
    const other = await openCli();
    await other.import(records);
    const idsOf = async ({ sql }: TestCli) => {
      const rows = await sql`
        SELECT id FROM users UNION SELECT id FROM projects UNION SELECT id FROM environments
        UNION SELECT id FROM files UNION SELECT id FROM file_versions UNION SELECT id FROM chunks
        UNION SELECT id FROM branches ORDER BY 1`;
      return rows.map(({ id }) => id);
    };
    expect(await idsOf(other)).toEqual(await idsOf(cli));
    expect(await idsOf(cli)).toHaveLength(7);
  });

  test("does not reopen an input request that has been answered", async () => {
    const records = everyKind();
    await cli.import(records);
    await cli.sql`UPDATE input_requests SET status = 'cancelled', cancelled_at = now()`;
    expect((await cli.import(records)).status).toBe(0);
    const rows = await cli.sql`SELECT DISTINCT status FROM input_requests`;
    expect([...rows]).toEqual([{ status: "cancelled" }]);
  });
});

describe("environments and releases", () => {
  test("a working set gets the last version of a path and never an intermediate one", async () => {
    await cli.import(FRAME);
    const before = await changes();
    const versions = ["one", "two", "three"].map((key) =>
      file("a.md", { environments: ["production"], version_key: key, content: key }),
    );
    await cli.import(versions);
    expect(await contentsOf(cli.sql, "environment", "production")).toEqual({ "a.md": "three" });
    expect((await changes()) - before).toBe(1);
  });

  test("a release contains the working set as of its position in the file", async () => {
    await cli.import([
      ...FRAME,
      file("a.md", { environments: ["production"], version_key: "1", content: "one" }),
      { record: "release", project: "docs", name: "v1", environment: "production" },
      file("a.md", { environments: ["production"], version_key: "2", content: "two" }),
      file("b.md", { environments: ["production"], version_key: "1", content: "b" }),
      { record: "release", project: "docs", name: "v2", environment: "production" },
    ]);
    expect(await contentsOf(cli.sql, "release", "v1")).toEqual({ "a.md": "1" });
    expect(await contentsOf(cli.sql, "release", "v2")).toEqual({ "a.md": "2", "b.md": "1" });
  });

  test("a frozen release accepts files that it already contains and rejects others", async () => {
    const held = file("a.md", { releases: ["v1"], version_key: "1", content: "one" });
    await cli.import([...FRAME, held]);
    expect((await cli.import([held])).status).toBe(0);
    const path = cli.file([
      file("a.md", { releases: ["v1"], version_key: "2", content: "two" }),
      file("b.md", { releases: ["v1"], content: "b" }),
      file("c.md", { environments: ["production"], content: "c" }),
    ]);
    const result = await cli.run(["import", path]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(`${path}:1: releases[0]: "v1" is frozen with another version`);
    expect(result.stderr).toContain(`${path}:2: releases[0]: "v1" is frozen without this path`);
    expect(await contentsOf(cli.sql, "release", "v1")).toEqual({ "a.md": "1" });
    expect(Object.keys(await contentsOf(cli.sql, "environment", "production"))).toEqual(["c.md"]);
  });

  test("an active release may be created later in the import, but must exist at its end", async () => {
    const path = cli.file([
      ADA,
      DOCS,
      { ...PRODUCTION, active_release: "v1" },
      { ...PRODUCTION, name: "staging", active_release: "missing" },
      file("a.md", { releases: ["v1"] }),
    ]);
    const result = await cli.run(["import", path]);
    expect(result.status).toBe(1);
    expect(result.stderr).toStartWith(`${path}:4: active_release: `);
    const rows = await cli.sql`
      SELECT e.name, r.name AS active FROM environments e
      LEFT JOIN releases r ON r.id = e.active_release_id ORDER BY 1`;
    expect([...rows]).toEqual([
      { name: "production", active: "v1" },
      { name: "staging", active: null },
    ]);
  });

  async function changes(): Promise<number> {
    const [row] = await cli.sql`SELECT count(*)::integer AS count FROM change_log`;
    return row?.["count"];
  }
});

describe("an invalid line", () => {
  /** A file with a chunk that is wrong. */
  const chunk = (more: object) => file("x", { chunks: [{ content: "", ...more }] });
  const rejected: [line: object | string, reason: string][] = [
    ["{nonsense", "is not valid JSON"],
    ["[1]", "must be a JSON object"],
    [{ name: "x" }, "record: is required and names the kind"],
    [{ record: "nope" }, 'record: "nope" is not a known kind, must be one of user, '],
    [{ record: "user", email: "x@example.com" }, "name: is required"],
    [{ ...ADA, name: 3 }, "name: must be string"],
    [{ ...ADA, email: "nobody" }, "email: must be an email address"],
    [{ ...ADA, id: "7" }, "id: must be a valid uuid"],
    [{ ...ADA, id: ID(9) }, "id: the user with this natural key"],
    [{ ...DOCS, slug: "No Slug" }, "slug: must match"],
    [{ ...DOCS, slug: "new", owner: "eve@example.com" }, "owner: there is no user"],
    [{ ...PRODUCTION, project: "nope" }, 'project: there is no project "nope"'],
    [file("x", { environments: ["nope"] }), "environments[0]: the project has"],
    [file("é".repeat(513)), "path: must have at most 1024 bytes"],
    ['{"record":"user","email":"x@example.com","name":"a\\u0000b"}', "name: contains a NUL"],
    [
      '{"record":"user","email":"x@example.com","name":"\\ud800"}',
      "name: contains an unpaired surrogate",
    ],
    [
      { record: "api_key", user: "ada@example.com", name: "k", key: "tsr_x_y" },
      "key: must have the form",
    ],
    [
      { record: "status_check", branch_id: ID(8), check_name: "ci", status: "pending" },
      "branch_id: there is no such branch yet",
    ],
    [
      { record: "status_check", branch_id: ID(8), check_name: "ci", status: "odd" },
      "status: must be one of pending, success, failure",
    ],
    [
      { record: "message", conversation_id: ID(8), seq: 1, role: "user" },
      "conversation_id: there is no such",
    ],
    [
      { record: "message", conversation_id: ID(8), seq: 1_000_000_001, role: "user" },
      "seq: must be at most 1000000000",
    ],
    [
      {
        record: "input_request",
        conversation_id: ID(8),
        latest_response: { actor_id: "x", values: {} },
      },
      "conversation_id: there is no such",
    ],
    [
      { record: "conversation", created_by: "x", created_at: "2026-02-30T00:00:00Z" },
      "created_at: must be a valid date-time",
    ],
    [
      { record: "conversation", created_by: "x", created_at: "0000-01-01T00:00:00Z" },
      "created_at: must be a valid date-time",
    ],
    [
      file("x", { chunks: [{ content: "" }, { index: 0, content: "" }] }),
      "chunks[1].index: another chunk",
    ],
    [chunk({ start_offset: 5, end_offset: 1 }), "chunks[0].end_offset: must not"],
    [chunk({ embedding: [] }), "chunks[0].embedding: has 0 elements, must have 1 to 4096"],
    [chunk({ embedding: vector(768, 1).fill(0) }), "chunks[0].embedding: must not be all zeros"],
    [
      chunk({ embedding: vector(768, 1).with(3, 1e39) }),
      "chunks[0].embedding[3]: must be a finite number",
    ],
    [chunk({ embedding: ["1", ...vector(767, 1)] }), "chunks[0].embedding[0]: must be a number"],
    [chunk({ embedding: "*".repeat(4096) }), "chunks[0].embedding: is not valid base64"],
    [
      chunk({ embedding: base64Of(Float32Array.from(vector(768, 1)).with(5, Number.NaN)) }),
      "chunks[0].embedding[5]: must be a finite number",
    ],
    [chunk({ embedding: {} }), "chunks[0].embedding: must be an array"],
  ];

  test("is reported with its reason, and the other lines are imported", async () => {
    const lines: (object | string)[] = [...FRAME];
    const expected: string[] = [];
    const path = cli.file([]);
    rejected.forEach(([line, reason], i) => {
      lines.push(line, file(`good/${i}.md`, { environments: ["production"], content: `${i}` }));
      expected.push(`${path}:${FRAME.length + 2 * i + 1}: ${reason}`);
    });
    await Bun.write(path, ndjson(lines));
    const result = await cli.run(["import", path]);
    expect(result.status).toBe(1);
    const reported = result.stderr.trimEnd().split("\n");
    expect(reported).toHaveLength(rejected.length);
    reported.forEach((line, i) => {
      expect(line).toStartWith(expected[i] as string);
      expect(line.length).toBeLessThan(path.length + 400);
    });
    const imported = await contentsOf(cli.sql, "environment", "production");
    expect(Object.keys(imported)).toHaveLength(rejected.length);
    const [rows] = await cli.sql`SELECT count(*)::integer AS count FROM files`;
    expect(rows?.["count"]).toBe(rejected.length);
  });

  test("may refer to a row of another project", async () => {
    const project = { ...DOCS, slug: "other" };
    const conversation = (id: number, project_id: string) => ({
      record: "conversation",
      id: ID(id),
      project_id,
      created_by: "x",
    });
    const message = { record: "message", role: "user" };
    const path = cli.file([
      ...[...FRAME, project, conversation(3, "docs"), conversation(4, "other")],
      { ...message, id: ID(5), conversation_id: ID(3), seq: 1 },
      { ...message, conversation_id: ID(4), seq: 1, parent_id: ID(5) },
      {
        record: "webhook_definition",
        id: "hook",
        project: "other",
        secret: "s",
        conversation_id: ID(3),
      },
    ]);
    const { status, stderr } = await cli.run(["import", path]);
    expect(status).toBe(1);
    expect(stderr.trimEnd().split("\n")).toEqual([
      `${path}:8: parent_id: the conversation has no such message yet`,
      `${path}:9: conversation_id: the conversation belongs to another project`,
    ]);
  });

  test("may refer to a record on a later line", async () => {
    const path = cli.file([PRODUCTION, ADA, DOCS]);
    const result = await cli.run(["import", path]);
    expect(result.status).toBe(1);
    expect(result.stderr).toBe(`${path}:1: project: there is no project "docs"\n`);
  });
});
