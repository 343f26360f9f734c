import { describe, expect, test } from "bun:test";
import { noteChange } from "../../src/auth/audit/changes.ts";
import { beginDeletion } from "../../src/db/project-lock.ts";
import { sharedApi } from "../../support/api/api.ts";
import { callCommand } from "../../support/processes/command.ts";
import { random, seedNotice } from "../../support/seed.ts";
import {
  addWritableProject,
  sendWrite,
  WRITES,
  type WritableProject,
  writingOperations,
} from "./project-writes.ts";

const api = await sharedApi();
const { sql } = api;
const owner = await api.user({ permissions: ["account.billing.manage"] });

/** Projects that are deleted while expected write to them. */
const STORMS = 2;
/** Deletions begin within this time of the writes. */
const STORM_MS = 40;

/** Deletes a project in a transaction, runs `work` before its end, and then rolls it back. */
async function whileDeleting<T>({ id }: WritableProject, work: () => Promise<T>): Promise<T> {
  const connection = await sql.reserve();
  await connection`BEGIN`;
  try {
    // The transaction stays open for as long as the work takes on a busy machine.
    await connection`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await beginDeletion(connection, id);
    await connection`DELETE FROM projects WHERE id = ${id}`;
    return await work();
  } finally {
    await connection`ROLLBACK`;
    connection.release();
  }
}

test("the tests of deletions know how to call every operation that may write", async () => {
  expect(Object.keys(WRITES).sort()).toEqual((await writingOperations(api)).sort());
  const listing = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const { body } = await api.send("POST", "/mcp", {
    as: owner,
    json: listing,
    headers: { accept: "application/json, text/event-stream" },
  });
  for (const tool of body.result.tools) expect(tool.annotations.readOnlyHint, tool.name).toBe(true);
});

describe("while a project is being deleted", () => {
  test("every write to it is answered 404 before the deletion ends, and works if that fails", async () => {
    const project = await addWritableProject(api, owner);
    await whileDeleting(project, async () => {
      for (const [id, recipe] of Object.entries(WRITES)) {
        const write = recipe(project);
        const { status, body } = await sendWrite(api, write);
        if (write.gone === null) expect(status, id).toBeLessThan(300);
        else expect([id, status, body?.slug]).toEqual([id, 404, write.gone]);
      }
    });
    for (const [id, recipe] of Object.entries(WRITES)) {
      const { status, text } = await sendWrite(api, recipe(project));
      expect(status, `${id}: ${text}`).toBeLessThan(300);
    }
  });

  test("a key that is bound to it creates no other key", async () => {
    const project = await addWritableProject(api, owner);
    const key = await api.key(owner, { project });
    const create = () => api.post("/api-keys", { name: "another" }, key);
    await whileDeleting(project, async () => expect((await create()).status).toBe(404));
    expect((await create()).status).toBe(201);
  });

  test("what is noted of it in the audit log does not wait for the end", async () => {
    const project = await addWritableProject(api, owner);
    const noted = async () => {
      await noteChange(sql, "import", [project.id], { strict: false });
      const [row] = await sql<[{ count: number }]>`
        SELECT count(*)::integer AS count FROM audit_log
        WHERE project_id = ${project.id} AND action = 'import'`;
      return row.count;
    };
    const before = await noted();
    expect(await whileDeleting(project, noted)).toBe(before);
    expect(await noted()).toBe(before + 1);
  });

  test("its slug is taken until the end", async () => {
    const project = await addWritableProject(api, owner);
    const create = () => api.post("/projects", { slug: project.slug, name: "New" }, owner);
    await whileDeleting(project, async () =>
      expect((await create()).body.slug).toBe("project-slug-taken"),
    );
    const path = `/projects/${project.slug}?confirm=${project.slug}`;
    await api.send("DELETE", path, { as: owner });
    expect((await create()).status).toBe(201);
  });

  test("commands that write to it fail at once and say why", async () => {
    const { slug, keyId, ...project } = await addWritableProject(api, owner);
    const [row] = await sql`SELECT email FROM users WHERE id = ${project.memberId}`;
    const member = row?.["email"] as string;
    const inProject = ["--project", slug];
    const commands = [
      ["members", "add", member, "--role", "editor", ...inProject],
      ["members", "remove", member, "--yes", ...inProject],
      ["keys", "create", "--user", member, "--name", "a key", ...inProject],
      ["keys", "rotate", keyId],
      ["files", "remove", "0.md", "--yes", ...inProject],
      ["files", "remove", "0.md", "--purge", "--yes", ...inProject],
      ["releases", "create", "v2", ...inProject],
      ["environments", "activate", "production", "v1", ...inProject],
      ["projects", "quota", slug, "--files", "10"],
      ["embeddings", "rebuild", "--embedder", "hashing", ...inProject],
      ["projects", "delete", slug, "--yes"],
      ["import", "-"],
    ];
    const record = { record: "environment", project: slug, name: "staging" };
    await whileDeleting({ slug, keyId, ...project }, async () => {
      for (const command of commands) {
        const { status, stderr } = await callCommand(command, {
          env: { DATABASE_URL: api.databaseUrl },
          stdin: JSON.stringify(record),
        });
        expect([command.join(" "), status, stderr]).toEqual([
          command.join(" "),
          1,
          expect.stringMatching(/(?:does not|no longer) exist|no project|no environment/),
        ]);
        expect(stderr).not.toMatch(/\n\s+at |foreign key/);
      }
    });
  });
});

test("writes during the deletion of their project are answered with success or a 404, never a 5xx", async () => {
  const all = Object.entries(WRITES);
  // Copies by one user take turns, and on a busy machine a second one is refused: that is another promise.
  const twice = all.filter(([id]) => id !== "createProject");
  const seen: string[] = [];
  const expected = new Set([200, 201, 204, 401, 404, 409]);
  for (let round = 0; round < STORMS; round++) {
    const copier = await api.user({ permissions: ["account.billing.manage"] });
    const project = await addWritableProject(api, copier, 1 + round * 40);
    const removals: number[] = [];
    const send = async ([id, recipe]: (typeof all)[number]) => {
      await Bun.sleep(random() * STORM_MS);
      const { status, text } = await sendWrite(api, recipe(project));
      if (id === "deleteProject") removals.push(status);
      if (!expected.has(status)) seen.push(`${id}: ${status} ${text}`);
    };
    await Promise.all([...all, ...twice].map(send));
    expect(removals.sort(), seedNotice).toEqual([204, 404]);
  }
  expect(seen, seedNotice).toEqual([]);
});
