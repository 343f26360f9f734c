import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { startApi } from "../../../support/api/api.ts";
import { allChanged, file, importsOf, PRODUCTION } from "../../../support/api/imports.ts";

const api = await startApi();
const { sql } = api;
const attacker = await api.user();
const victim = await api.user();
const { report } = importsOf(api, victim);
const attack = importsOf(api, attacker);

describe("a commit that changes very many scopes", () => {
  const MANY = 5_002;
  const releases = Array.from({ length: MANY }, (_, i) => `r${i}`);

  test("is refused, by an import and by a copy, unless it deletes their project", async () => {
    const project = await api.project(attacker);
    const lines = [PRODUCTION, file("a.md", { releases })];
    const strict = await attack.post(project, lines, { strict: true });
    expect(strict.status, strict.text).toBe(400);
    expect(strict.body.detail).toContain("too many environments and releases at once");
    const [row] = await sql`SELECT FROM releases WHERE project_id = ${project.id} LIMIT 1`;
    expect(row).toBeUndefined();
    await attack.report(project, [PRODUCTION, file("a.md")]);
    // Two transactions, since one would be refused.
    for (const half of [1, 2]) {
      await sql.begin(async (tx) => {
        await tx`
          INSERT INTO environments (id, project_id, name)
          SELECT gen_random_uuid(), ${project.id}, ${`${half}-`}::text || i
          FROM generate_series(1, ${MANY / 2 + 1}::integer) i`;
        await tx`
          INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
          SELECT e.project_id, e.id, v.file_id, v.id FROM environments e, file_versions v
          WHERE e.project_id = ${project.id} AND v.project_id = e.project_id
            AND starts_with(e.name, ${`${half}-`})`;
      });
    }
    const slug = `copy-${randomUUID()}`;
    const copied = await api.send("POST", "/projects", {
      as: attacker,
      json: { slug, name: "Copy", templateProjectId: project.id },
    });
    expect(copied.status, copied.text).toBe(400);
    await sql`DELETE FROM projects WHERE id = ${project.id}`;
    const [last] = await sql`
      SELECT kind FROM change_log WHERE project_id = ${project.id} ORDER BY seq DESC LIMIT 1`;
    expect(last?.["kind"]).toBe("project");
    expect(await report(await api.project(victim), [PRODUCTION, file("a.md")])).toEqual(
      allChanged(2),
    );
  });
});
