import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import pLimit from "p-limit";
import { FieldIndex } from "../../../../src/indexing/fields/field-index.ts";
import type { IndexingContext } from "../../../../src/indexing/projects/indexing-context.ts";
import { LoadedProjects } from "../../../../src/indexing/projects/loaded-projects.ts";
import { SnapshotStore } from "../../../../src/indexing/snapshots/snapshot-store.ts";
import type { VersionIndex } from "../../../../src/indexing/versions/version-index.ts";
import { createLog } from "../../../../src/observability/log.ts";
import { temporaryFolder } from "../../../../support/folders.ts";

/** An index without contents, whose snapshots fail as on a full disk. */
function fullDisk(): { readonly index: VersionIndex; attempts(): number } {
  let attempts = 0;
  const index = {
    name: "fake",
    openProject() {},
    dropProject() {},
    knows: () => true,
    setScope() {},
    hasScope: () => true,
    stats: () => [],
    restore: async () => false,
    async snapshot() {
      attempts++;
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    },
  } as unknown as VersionIndex;
  return { index, attempts: () => attempts };
}

test("a snapshot that fails is not tried again at once, and does not stop the caller", async () => {
  const { index, attempts } = fullDisk();
  const scope = { id: randomUUID(), kind: "environment" as const };
  const context = {
    log: createLog("silent"),
    indexes: [index],
    fields: new FieldIndex(),
    changes: { scopesOf: async () => [scope], versionsOf: async () => [] },
    reader: {},
    snapshots: new SnapshotStore(temporaryFolder("full")),
    databaseId: "d",
    anchor: () => ({ seq: 1, at: "" }),
    bulk: pLimit(1),
  } as unknown as IndexingContext;
  const projects = new LoadedProjects(context, { loaded() {}, evicted() {} }, 2 ** 30);
  expect(await projects.load(randomUUID())).toBe("loaded");
  expect(await projects.saveOne(() => true)).toBe(true);
  // A stop saves until nothing is due any more, so it must come to an end.
  for (let i = 0; i < 10; i++) expect(await projects.saveOne(() => true)).toBe(false);
  expect(attempts()).toBe(1);
});
