import { expect, test } from "bun:test";
import { UNINDEXED_MAX_BYTES } from "../../../src/content/files/unindexed-writes.ts";
import { sharedApi } from "../../../support/api/api.ts";
import { importsOf, PRODUCTION } from "../../../support/api/imports.ts";
import { until } from "../../../support/until.ts";

const CLIENTS = 24;
const WRITES = 120;
/** Less than what is stored on a thread of its own, so that storing it takes less time than embedding it. */
const TEXT_BYTES = 90_000;

const api = await sharedApi();
const { sql } = api;

/** A text that no other write has, in words that no other has. */
const textOf = (number: number) => {
  const words = Array.from({ length: TEXT_BYTES / 8 }, (_, i) =>
    ((number * 7_919 + i * 104_729) % 9_999_991).toString(36).padStart(7, "w"),
  );
  return `# Flood ${number}\n\n${words.join(" ")}`;
};

test("a flood of writes leaves a bounded amount of text to embed, however it ends, and loses none", async () => {
  const { owner, project } = await api.ownedProject();
  await api.send("PATCH", `/projects/${project.slug}`, {
    as: owner,
    json: { embedder: "hashing" },
  });
  await importsOf(api, owner).post(project, [PRODUCTION]);
  let next = 0;
  let largest = 0;
  const written: string[] = [];
  const client = async () => {
    for (let number = next++; number < WRITES; number = next++) {
      const path = `flood-${number}.md`;
      const { status, body } = await api.putText(owner, project, path, textOf(number));
      if (status === 201) written.push(path);
      else expect([status, body.slug]).toEqual([503, "overloaded"]);
      const [row] = await sql<{ bytes: number }[]>`
        SELECT coalesce(sum(octet_length(v.content)), 0)::float8 AS bytes
        FROM embedding_queue q JOIN file_versions v ON v.id = q.file_version_id
        WHERE q.project_id = ${project.id}`;
      largest = Math.max(largest, row?.bytes ?? 0);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  expect(largest).toBeGreaterThan(0);
  expect(largest).toBeLessThanOrEqual(UNINDEXED_MAX_BYTES);
  await until("no text waits for its embedding", async () => {
    const { body } = await api.get(`/projects/${project.slug}/index-state`, owner);
    return body.embeddings_waiting === 0;
  });
  const paths = await sql<{ path: string }[]>`
    SELECT DISTINCT f.path FROM environment_files w JOIN files f ON f.id = w.file_id
      JOIN chunks c ON c.file_version_id = w.file_version_id
    WHERE w.project_id = ${project.id} AND c.embedding IS NOT NULL`;
  expect(new Set(paths.map(({ path }) => path))).toEqual(new Set(written));
});
