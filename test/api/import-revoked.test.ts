import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { importRecords } from "../../src/content/import/import-records.ts";
import type { InputRecord } from "../../src/content/import/records/batches.ts";
import { parseRecord } from "../../src/content/import/records/parse.ts";
import { type Caller, sharedApi, type TestKey, type TestProject } from "../../support/api/api.ts";
import { file, importsOf, PRODUCTION } from "../../support/api/imports.ts";

const api = await sharedApi();
const { sql } = api;
const owner = await api.user();
const address = () => `user-${randomUUID()}@example.com`;
const memberPath = ({ id }: TestProject, { userId }: Caller) => `/projects/${id}/members/${userId}`;

const inputOf = ({ slug: project }: TestProject, record: object): InputRecord[] => [
  { where: "", parsed: parseRecord({ project, ...record }) },
];

/** Imports an environment, makes a change once it is stored, and imports a record. */
async function importAround(
  project: TestProject,
  { userId, ...key }: Caller & Partial<TestKey>,
  asOwner: boolean,
  change: () => Promise<{ status: number }>,
  record: object,
): Promise<void> {
  const stored = Promise.withResolvers<void>();
  async function* batches(): AsyncGenerator<InputRecord[]> {
    yield inputOf(project, PRODUCTION);
    await stored.promise;
    expect((await change()).status).toBeLessThan(300);
    yield inputOf(project, record);
  }
  await importRecords(sql, batches(), {
    actor: { via: "http", user_id: userId, ...(key.id === undefined ? {} : { key_id: key.id }) },
    target: { ...project, asOwner },
    strict: false,
    onRejected: (_, reason) => expect.unreachable(reason),
    onBatch: () => stored.resolve(),
  });
}

async function paths({ id }: TestProject): Promise<string[]> {
  const rows = await sql<{ path: string }[]>`SELECT path FROM files WHERE project_id = ${id}`;
  return rows.map(({ path }) => path);
}

describe("an import over HTTP whose caller loses the right to it", () => {
  test.each(["membership", "role", "key", "scope", "expiry"])(
    "is refused from then on: without the %s",
    async (lost) => {
      const project = await api.project(owner);
      const editor = await api.user();
      await api.join(editor, project, "editor");
      const key = await api.key(editor, { project });
      const path = memberPath(project, editor);
      const update = async (columns: object) => {
        await sql`UPDATE api_keys SET ${sql(columns)} WHERE id = ${key.id}`;
        return { status: 200 };
      };
      const changes: Record<string, () => Promise<{ status: number }>> = {
        membership: () => api.send("DELETE", path, { as: owner }),
        role: () => api.send("PUT", path, { as: owner, json: { role: "member" } }),
        key: () => api.send("DELETE", `/api-keys/${key.id}`, { as: editor }),
        scope: () => update({ scopes: ["files.read"] }),
        expiry: () => update({ expires_at: "2026-01-01T00:00:00Z" }),
      };
      const change = changes[lost] as () => Promise<{ status: number }>;
      const importing = importAround(project, key, false, change, file("late.md"));
      await expect(importing).rejects.toMatchObject({ slug: "permission-denied" });
      expect(await paths(project)).toEqual([]);
    },
  );

  test("goes on with the rights that are left, and changes no members without ownership", async () => {
    const email = address();
    const other = await api.user({ email });
    const changing = async (record: (project: TestProject) => object) => {
      const project = await api.project(owner);
      await api.join(other, project, "owner");
      const demote = () =>
        api.send("PUT", memberPath(project, other), { as: owner, json: { role: "editor" } });
      await importAround(project, other, true, demote, record(project));
      return await paths(project);
    };
    expect(await changing(() => file("late.md"))).toEqual(["late.md"]);
    const promotion = ({ slug }: TestProject) => ({
      record: "project",
      slug,
      name: "n",
      project: undefined,
      owner: owner.userId,
      members: [{ user: email, role: "owner" }],
    });
    await expect(changing(promotion)).rejects.toMatchObject({ slug: "permission-denied" });
  });

  test("is answered 403", async () => {
    const email = address();
    const other = await api.user({ email });
    const project = await api.project(owner);
    await api.join(other, project, "owner");
    const answer = await importsOf(api, other).post(project, [
      PRODUCTION,
      {
        record: "project",
        slug: project.slug,
        name: "n",
        owner: owner.userId,
        members: [{ user: email, role: "member" }],
      },
      // A release of an environment is a batch of its own.
      { record: "release", name: "v1", environment: "production" },
    ]);
    expect([answer.status, answer.body.slug]).toEqual([403, "permission-denied"]);
    expect(await sql`SELECT FROM releases WHERE project_id = ${project.id}`).toHaveLength(0);
  });
});
