import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { IMPORT_REPORT_ERRORS_MAX } from "../../src/domain/limits.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import {
  allChanged,
  allUnchanged,
  file,
  importsOf,
  PRODUCTION,
} from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { randomVector } from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";

const api = await sharedApi();
const { sql } = api;
const owner = await api.user({ email: "owner@example.com" });

const { post, report, working } = importsOf(api, owner);

/** What an operation answers once it sees all imports so far. */
async function afterImports(project: TestProject, path: string, json: object): Promise<Json> {
  // It changes nothing, and is answered with the last change before it.
  const { headers } = await post(project, [PRODUCTION]);
  let answer: Json;
  await until("the imports are applied", async () => {
    answer = await api.post(`${path}?min_change=${headers.get("x-change")}`, json, owner);
    return answer.status === 200;
  });
  return answer.body;
}

describe("POST /projects/{project_reference}/import", () => {
  test("imported files are found by a search that names the import, and importing them again changes nothing", async () => {
    const project = await api.project(owner);
    const vector = base64Of(randomVector(768, 5));
    const lines = [PRODUCTION, file("a.md", { chunks: [{ content: "a", embedding: vector }] })];
    expect(await report(project, lines)).toEqual(allChanged(2));
    const path = `/projects/${project.slug}/environments/production/search`;
    const found = await afterImports(project, path, { vector, dimension: 768 });
    expect(found.data.map((hit: Json) => hit.chunk.file_path)).toEqual(["a.md"]);
    expect(await report(project, lines)).toEqual(allUnchanged(2));
  });

  test("a compressed body is the same import", async () => {
    for (const encoding of ["gzip", "zstd"] as const) {
      const project = await api.project(owner);
      expect(await report(project, [PRODUCTION, file("a.md")], { encoding })).toEqual(
        allChanged(2),
      );
      expect(await working(project)).toEqual(["a.md"]);
    }
  });

  test("an import uses the connection of the import before", async () => {
    const project = await api.project(owner);
    const lastUsed = async () => {
      await report(project, [PRODUCTION]);
      const [session] = await sql<{ pid: number }[]>`
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'tessera-import'
        ORDER BY state_change DESC LIMIT 1`;
      return session?.pid;
    };
    // The thread may have ended in a long pause between two.
    await until("two imports in a row use one connection", async () => {
      const before = await lastUsed();
      return before !== undefined && before === (await lastUsed());
    });
  });

  test("an empty body is an import without lines", async () => {
    expect(await report(await api.project(owner), [])).toEqual(allUnchanged(0));
  });

  test("each kind of record counts as changed once, whatever it changes", async () => {
    const project = await api.project(owner);
    const [branch, conversation, message] = [randomUUID(), randomUUID(), randomUUID()];
    const lines = [
      PRODUCTION,
      { record: "environment", name: "staging" },
      file("a.md", { environments: ["production", "staging"], releases: ["v1", "v2"] }),
      { record: "release", name: "v3", environment: "production" },
      { record: "environment", name: "production", active_release: "v3" },
      { record: "branch", id: branch, name: "main" },
      { record: "branch_approval", branch_id: branch, approved_by: owner.userId },
      { record: "status_check", branch_id: branch, check_name: "ci", status: "success" },
      { record: "conversation", id: conversation, created_by: "owner@example.com" },
      { record: "message", id: message, conversation_id: conversation, seq: 1, role: "user" },
      { record: "input_request", conversation_id: conversation, title: "t" },
      { record: "webhook_definition", id: `w-${project.id}`, secret: "s" },
    ];
    expect(await report(project, lines)).toEqual(allChanged(lines.length));
    const again = { ...allUnchanged(lines.length) };
    // The approval and the input request have no time of their own, which their ids depend on.
    expect(await report(project, lines)).toEqual(again);
    const [stored] = await sql`SELECT project_id FROM conversations WHERE id = ${conversation}`;
    expect(stored?.["project_id"]).toBe(project.id);
  });

  test("a record that only moves a file into another scope counts as changed", async () => {
    const project = await api.project(owner);
    const staging = { record: "environment", name: "staging" };
    await report(project, [PRODUCTION, staging, file("a.md"), file("b.md")]);
    const moved = [file("a.md", { environments: ["staging"] }), file("b.md")];
    expect(await report(project, moved)).toMatchObject({ changed: 1, unchanged: 1 });
    expect(await report(project, moved)).toEqual(allUnchanged(2));
  });

  test("lines that are refused are named by their number, blank lines included, and stop no others", async () => {
    const project = await api.project(owner);
    const lines = [
      PRODUCTION,
      "",
      "{",
      file("a.md"),
      "   ",
      { record: "file" },
      { record: "nonsense" },
      file("b.md", { environments: ["nowhere"] }),
    ];
    expect(await report(project, lines)).toEqual({
      lines: 6,
      changed: 2,
      unchanged: 0,
      refused: 4,
      errors: [
        { line: 3, message: "is not valid JSON" },
        { line: 6, message: "path: is required" },
        { line: 7, message: expect.stringContaining('"nonsense" is not a known kind') },
        { line: 8, message: 'environments[0]: the project has no environment "nowhere"' },
      ],
      truncated: false,
    });
    expect(await working(project)).toEqual(["a.md"]);
  });

  test("only the first refused lines are listed", async () => {
    const project = await api.project(owner);
    const lines = Array.from({ length: IMPORT_REPORT_ERRORS_MAX + 1 }, () => "{");
    const body = await report(project, lines);
    expect(body.errors.map(({ line }: Json) => line)).toEqual(lines.slice(1).map((_, i) => i + 1));
    expect(body).toMatchObject({ refused: lines.length, truncated: true });
  });

  test("a strict import with a refused line keeps nothing, and one without keeps everything", async () => {
    const project = await api.project(owner);
    const lines = [PRODUCTION, file("a.md"), "{"];
    expect(await report(project, lines, { strict: true })).toEqual({
      lines: 3,
      changed: 0,
      unchanged: 2,
      refused: 1,
      errors: [{ line: 3, message: "is not valid JSON" }],
      truncated: false,
    });
    const [row] = await sql`SELECT count(*)::integer AS count FROM environments
      WHERE project_id = ${project.id}`;
    expect(row?.["count"]).toBe(0);
    expect(await report(project, lines.slice(0, 2), { strict: true })).toEqual(allChanged(2));
    expect(await report(project, ["{"], { strict: false })).toMatchObject({ refused: 1 });
  });

  test("a release that has got a version from an environment refuses another one of the same import", async () => {
    const project = await api.project(owner);
    await report(project, [PRODUCTION, file("frozen.md", { releases: ["frozen"] })]);
    const other = (releases: string[]) =>
      file("a.md", { environments: [], content: "# Other", chunks: [], releases });
    const body = await report(project, [
      file("a.md"),
      { record: "release", name: "v1" },
      // A release of a working set comes after the lines before it.
      { record: "release", name: "v2", environment: "production" },
      other(["frozen", "v1"]),
      { record: "release", name: "v1", environment: "production" },
      other(["v1"]),
    ]);
    expect(body.errors).toEqual([
      { line: 4, message: expect.stringContaining('"frozen" is frozen without this path') },
      { line: 6, message: expect.stringContaining('"v1" already contains another version') },
    ]);
  });

  test("a thousand releases that one line names take one or two transactions, and all hold its file", async () => {
    const project = await api.project(owner);
    const releases = Array.from({ length: 1_000 }, (_, i) => `r${i}`);
    const lines = [PRODUCTION, file("a.md", { releases })];
    expect(await report(project, lines)).toEqual(allChanged(2));
    const [row] = await sql`
      SELECT count(*)::integer AS filled, count(r.frozen_at)::integer AS frozen
      FROM release_files f JOIN releases r ON r.id = f.release_id WHERE f.project_id = ${project.id}`;
    expect(row).toEqual({ filled: releases.length, frozen: releases.length });
    const [written] = await sql`
      SELECT count(DISTINCT xmin::text)::integer AS transactions FROM releases
      WHERE project_id = ${project.id}`;
    expect(written?.["transactions"]).toBeLessThan(3);
    expect(await report(project, lines)).toEqual(allUnchanged(2));
  });

  test("an environment whose active release is null serves its working set again", async () => {
    const project = await api.project(owner);
    await report(project, [
      PRODUCTION,
      file("a.md"),
      { record: "release", name: "v1", environment: "production" },
    ]);
    const pin = { ...PRODUCTION, active_release: "v1" };
    expect(await report(project, [pin])).toEqual(allChanged(1));
    expect(await report(project, [pin])).toEqual(allUnchanged(1));
    expect(await report(project, [PRODUCTION])).toEqual(allUnchanged(1));
    await report(project, [file("b.md")]);
    const browse = async () => {
      const lookup = `/projects/${project.slug}/knowledge/lookup`;
      return (await afterImports(project, lookup, {})).data.map(({ path }: Json) => path);
    };
    expect(await browse()).toEqual(["a.md"]);
    const unpin = { ...PRODUCTION, active_release: null };
    expect(await report(project, [unpin])).toEqual(allChanged(1));
    expect(await report(project, [unpin])).toEqual(allUnchanged(1));
    expect(await browse()).toEqual(["a.md", "b.md"]);
    await report(project, [file("c.md")]);
    expect(await browse()).toEqual(["a.md", "b.md", "c.md"]);
  });

  test("a project is read with what its record says of it, and keeps what a later one leaves out", async () => {
    const project = await api.project(owner);
    const read = async () => (await api.get(`/projects/${project.slug}`, owner)).body;
    const base = { record: "project", slug: project.slug, name: "P", owner: owner.userId };
    expect(await read()).toMatchObject({ is_claimed: true, prompt_count: 0, provider: null });
    const said = { is_claimed: false, prompt_count: 12, provider: "github", layout: "flat" };
    const published_at = "2026-01-02T03:04:05.678Z";
    const full = { ...base, ...said, published_at };
    expect(await report(project, [full])).toEqual(allChanged(1));
    expect(await report(project, [full])).toEqual(allUnchanged(1));
    expect(await read()).toMatchObject({ ...said, published_at });
    expect(await report(project, [base])).toEqual(allUnchanged(1));
    expect(await read()).toMatchObject({ ...said, published_at });
    const wrong = {
      is_claimed: "no",
      prompt_count: 1.5,
      provider: 7,
      layout: [],
      published_at: "x",
    };
    const lines = Object.entries(wrong).map(([name, value]) => ({ ...base, [name]: value }));
    const { refused, errors } = await report(project, lines);
    expect(refused).toBe(lines.length);
    for (const [i, name] of Object.keys(wrong).entries()) {
      expect(errors[i]?.message).toStartWith(`${name}: `);
    }
    expect(await read()).toMatchObject({ ...said, published_at });
  });
});
