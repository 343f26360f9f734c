import { describe, expect, test } from "bun:test";
import { otherFormat } from "../../../../src/domain/disk-formats.ts";
import type { IndexingContext } from "../../../../src/index/projects/indexing-context.ts";
import { restoreProject } from "../../../../src/index/projects/restore-project.ts";

const ALL = { scopes: null, embedded: [] };

interface Situation {
  /** What the log says of the position of the snapshot. */
  readonly anchor?: "valid" | "pruned" | "mismatch";
  readonly databaseId?: string;
  readonly hasEmbedder?: boolean;
  /** Whether the files of the snapshot can be read. */
  readonly isWhole?: boolean;
  /** Why they are refused. */
  readonly refusal?: string;
}

/** Restores a project with a snapshot of `database`, since which a scope has changed. */
async function restored({
  anchor = "valid",
  databaseId = "database",
  hasEmbedder = false,
  isWhole = true,
  refusal,
}: Situation) {
  const done: string[] = [];
  const logged: object[] = [];
  const change = { seq: 4, kind: "environment", ref: "changed" };
  const context = {
    databaseId,
    log: Object.fromEntries(
      ["info", "warn"].map((level) => [
        level,
        ({ reason }: { reason?: string }, message: string) =>
          logged.push({ level, reason, message }),
      ]),
    ),
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
        dropProject() {},
        async restore() {
          done.push("read");
          if (refusal !== undefined) throw new Error(refusal);
          return isWhole;
        },
      },
    ],
  } as unknown as IndexingContext;
  return { restored: await restoreProject("project", context), done, logged };
}

describe("a project that is restored", () => {
  test("a snapshot whose position is in the log is read, and what has changed since is indexed", async () => {
    const scopes = [{ id: "changed", kind: "environment" as const }];
    expect(await restored({})).toMatchObject({
      restored: { scopes, embedded: [] },
      done: ["read"],
    });
  });

  test("a snapshot from before what the log has is read, and every scope is indexed", async () => {
    expect(await restored({ anchor: "pruned" })).toMatchObject({ restored: ALL, done: ["read"] });
  });

  test("with an embedder, a snapshot from before what the log has is rebuilt, because its vectors may be old", async () => {
    const outcome = await restored({ anchor: "pruned", hasEmbedder: true });
    expect(outcome).toMatchObject({ restored: ALL, done: ["discarded"] });
  });

  test("a snapshot of another database is not read, whatever its position is", async () => {
    for (const situation of [{ databaseId: "other" }, { anchor: "mismatch" as const }]) {
      expect(await restored(situation)).toMatchObject({ restored: ALL, done: ["discarded"] });
    }
  });

  test("a snapshot of another version is rebuilt, and is not called damaged", async () => {
    const reason = otherFormat(6, 7);
    for (const refusal of [reason, `the snapshot is corrupt: ${reason}`]) {
      expect(await restored({ refusal })).toMatchObject({
        ...{ restored: ALL, done: ["read", "discarded"] },
        logged: [
          {
            ...{ level: "info", reason },
            message: "an index snapshot is of another version and is rebuilt",
          },
        ],
      });
    }
  });

  test("a damaged snapshot is rebuilt, and the log says why it is damaged", async () => {
    const refusal = "the manifest has a wrong checksum";
    expect(await restored({ refusal })).toMatchObject({
      ...{ restored: ALL, done: ["read", "discarded"] },
      logged: [
        {
          ...{ level: "warn", reason: refusal },
          message: "an index snapshot is damaged and is rebuilt",
        },
      ],
    });
  });

  test("after a snapshot that cannot be read whole, every scope is indexed", async () => {
    expect(await restored({ isWhole: false })).toMatchObject({ restored: ALL, done: ["read"] });
  });
});
