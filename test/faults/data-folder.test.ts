import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { spooled } from "../../src/content/import/thread/input.ts";
import { sharedApi, startApi, startApiProcess } from "../../support/api/api.ts";
import { TestWorld, untilReady } from "../../support/api/world.ts";
import { ndjson } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import {
  lacksSmallDisks,
  mountSmallDisk,
  type SmallDisk,
} from "../../support/processes/small-disk.ts";
import { until } from "../../support/until.ts";

const withoutDisk = lacksSmallDisks();
const DISK_MB = 16;
const first = await sharedApi();
const { databaseUrl } = first;

/** How a folder takes no change, and what is said about it. */
const FAULTS = [
  ["is full", (disk: SmallDisk) => disk.fill(), "The disk that holds uploads is full.", "free"],
  [
    "cannot be written",
    (disk: SmallDisk) => disk.forbid(),
    "Uploads cannot be stored (EROFS).",
    "read-only",
  ],
] as const;

/** Puts files by an import that is stored as a whole before it begins. */
async function importInto(url: string, { project, member }: TestWorld) {
  const files = Array.from({ length: 20 }, (_, i) => ({
    record: "file",
    path: `i${i}.md`,
    environments: ["production"],
    content: `# ${i}\n\n${"word ".repeat(2_000)}`,
  }));
  const answer = await fetch(`${url}/projects/${project.id}/import?strict=true`, {
    method: "POST",
    headers: { ...member.headers, "content-type": "application/x-ndjson" },
    body: ndjson(files),
  });
  return { status: answer.status, body: await answer.json() };
}

const snapshots = (disk: SmallDisk) =>
  readdirSync(disk.path, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith("manifest.json"));

test("a service that is killed while it receives an upload leaves nothing of it", async () => {
  const folder = dataFolder();
  const world = await TestWorld.create(first);
  const node = await startApiProcess({ beside: first, env: { DATA_DIR: folder } });
  await untilReady(node.url);
  const { id } = world.project;
  const line = { record: "file", path: "a.md", environments: ["production"], content: "# A" };
  let pieces = 0;
  const body = new ReadableStream({
    async pull(to) {
      to.enqueue(new TextEncoder().encode(ndjson([{ ...line, path: `${pieces++}.md` }])));
      await Bun.sleep(1);
    },
  });
  const upload = fetch(`${node.url}/projects/${id}/import?strict=true`, {
    method: "POST",
    body,
    headers: { ...world.member.headers, "content-type": "application/x-ndjson" },
  }).catch(() => "lost");
  const uploads = () => readdirSync(folder).includes("uploads");
  await until("the upload is under way", () => uploads() && pieces > 20);
  node.server.kill("SIGKILL");
  expect(await upload).toBe("lost");
  // One that it had no time to take the name from goes with the next.
  await Array.fromAsync(await spooled(new Blob(["x"]).stream(), join(folder, "uploads")));
  expect(readdirSync(join(folder, "uploads"))).toEqual([]);
  const { body: files } = await first.get(`/projects/${id}/files`, world.member);
  expect(files.data).toEqual([]);
});

describe.skipIf(withoutDisk).each(FAULTS)("a data folder that %s", (_, fail, reason, found) => {
  test("keeps no project from being searched, changed or loaded, is named, and is used again once that is over", async () => {
    const disk = await mountSmallDisk(DISK_MB);
    const [world, other] = [await TestWorld.create(first), await TestWorld.create(first)];
    for (const each of [world, other]) await each.write(1);
    const env = { DATA_DIR: disk.path, INDEX_PRELOAD: "none" };
    const node = await startApi({ beside: first, env });
    await untilReady(node.url);
    await world.agrees(node.url);
    await using fault = fail(disk);
    await world.write(1, "more");
    for (const each of [world, other]) await each.agrees(node.url);
    expect(await importInto(node.url, world)).toMatchObject({
      status: 503,
      body: { slug: "overloaded", detail: reason },
    });
    expect((await fetch(`${node.url}/readyz`)).status).toBe(200);
    const options = { env: { DATA_DIR: disk.path, DATABASE_URL: databaseUrl } };
    expect((await callCommand(["doctor"], options)).stdout).toContain(found);
    await fault.end();
    expect((await importInto(node.url, world)).status).toBe(200);
    // What could not be saved is saved now, at the latest by the end of the service.
    await node.stop();
    const saved = snapshots(disk);
    for (const { project } of [world, other]) {
      expect(saved.filter((name) => name.includes(project.id))).not.toEqual([]);
    }
  });

  test("keeps no service from ending well, nor the next one from starting once that is over", async () => {
    const disk = await mountSmallDisk(DISK_MB);
    const world = await TestWorld.create(first);
    await world.write(1);
    const env = { DATA_DIR: disk.path };
    const node = await startApi({ beside: first, env });
    await untilReady(node.url);
    await world.agrees(node.url);
    await using fault = fail(disk);
    await node.stop();
    await fault.end();
    const next = await startApi({ beside: first, env });
    await untilReady(next.url);
    await world.agrees(next.url);
    await next.stop();
  });
});
