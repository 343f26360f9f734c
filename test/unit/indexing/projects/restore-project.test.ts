import { describe, expect, test } from "bun:test";
import type { IndexingContext } from "../../../../src/indexing/projects/indexing-context.ts";
import { restoreProject } from "../../../../src/indexing/projects/restore-project.ts";
import { createLog } from "../../../../src/observability/log.ts";

const ALL = { scopes: null, embedded: [] };

interface Situation {
  /** What the log says of the position of the snapshot. */
  readonly anchor?: "valid" | "pruned" | "mismatch";
  readonly databaseId?: string;
  readonly hasEmbedder?: boolean;
  /** Whether the files of the snapshot can be read. */
  readonly isWhole?: boolean;
}

/** Restores a project with a snapshot of `database`, since which a scope has changed. */
async function restored({
  anchor = "valid",
  databaseId = "database",
  hasEmbedder = false,
  isWhole = true,
}: Situation) {
  const done: string[] = [];
  const change = { seq: 4, kind: "environment", ref: "changed" };
  const context = {
    ...{ databaseId, log: createLog("silent") },
    changes: {
      checkAnchor: async () => anchor,
      hasEmbedder: async () => hasEmbedder,
      after: async (seq: number) => (seq < change.seq ? [change] : []),
    },
    snapshots: {
      read: () => ({ databaseId: "database", anchor: {}, seq: 3 }),
      directory: () => "",
      discard: () => void done.push("discarded"),
    },
    indexes: [
      {
        name: "text",
        async restore() {
          done.push("read");
          return isWhole;
        },
      },
    ],
  } as unknown as IndexingContext;
  return { restored: await restoreProject("project", context), done };
}

describe("a project that is restored", () => {
  test("a snapshot whose position is in the log is read, and what has changed since is indexed", async () => {
    const scopes = [{ id: "changed", kind: "environment" as const }];
    expect(await restored({})).toEqual({ restored: { scopes, embedded: [] }, done: ["read"] });
  });

  test("a snapshot from before what the log has is read, and every scope is indexed", async () => {
    expect(await restored({ anchor: "pruned" })).toEqual({ restored: ALL, done: ["read"] });
  });

  test("with an embedder, a snapshot from before what the log has is rebuilt, because its vectors may be old", async () => {
    const outcome = await restored({ anchor: "pruned", hasEmbedder: true });
    expect(outcome).toEqual({ restored: ALL, done: ["discarded"] });
  });

  test("a snapshot of another database is not read, whatever its position is", async () => {
    for (const situation of [{ databaseId: "other" }, { anchor: "mismatch" as const }]) {
      expect(await restored(situation)).toEqual({ restored: ALL, done: ["discarded"] });
    }
  });

  test("after a snapshot that cannot be read whole, every scope is indexed", async () => {
    expect(await restored({ isWhole: false })).toEqual({ restored: ALL, done: ["read"] });
  });
});
