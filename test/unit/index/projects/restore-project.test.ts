import { describe, expect, test } from "bun:test";
import type { IndexingContext } from "../../../../src/index/projects/indexing-context.ts";
import { restoreProject } from "../../../../src/index/projects/restore-project.ts";
import { OtherVersion } from "../../../../src/index/snapshots/manifest.ts";

const ALL = { scopes: null, embedded: [] };

interface Situation {
  /** What the log says of the position of the snapshot. */
  readonly anchor?: "valid" | "pruned" | "mismatch";
  readonly databaseId?: string;
  readonly hasEmbedder?: boolean;
  /** The indexes of which the snapshot has parts. */
  readonly saved?: readonly string[];
  /** Why the manifest is refused. */
  readonly refusal?: Error;
  /** Why a part is refused. */
  readonly damage?: Error;
}

/** Restores a project with a snapshot of `database`, since which a scope has changed. */
async function restored({
  anchor = "valid",
  databaseId = "database",
  hasEmbedder = false,
  saved = ["text"],
  refusal,
  damage,
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
      read() {
        if (refusal !== undefined) throw refusal;
        const parts = Object.fromEntries(saved.map((name) => [name, []]));
        return { databaseId: "database", anchor: {}, seq: 3, parts };
      },
      reader: () => ({}),
      discard: () => void done.push("discarded"),
    },
    indexes: [
      {
        name: "text",
        dropProject() {},
        async restore() {
          done.push("read");
          if (damage !== undefined) throw damage;
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
    expect(await restored({ refusal: new OtherVersion(6, 7) })).toMatchObject({
      restored: ALL,
      done: ["discarded"],
      logged: [
        {
          level: "info",
          reason: "format version 6, this build reads 7",
          message: "an index snapshot is of another version and is rebuilt",
        },
      ],
    });
  });

  test("a damaged snapshot is rebuilt, and the log says why it is damaged", async () => {
    const reason = "it has a wrong checksum";
    for (const [damage, done] of [
      [{ refusal: new Error(reason) }, ["discarded"]],
      [{ damage: new Error(reason) }, ["read", "discarded"]],
    ] as const) {
      expect(await restored(damage)).toMatchObject({
        restored: ALL,
        done,
        logged: [
          {
            level: "warn",
            reason,
            message: "an index snapshot is damaged and is rebuilt",
          },
        ],
      });
    }
  });

  test("after a snapshot without the parts of an index, every scope is indexed", async () => {
    expect(await restored({ saved: ["fields"] })).toMatchObject({ restored: ALL, done: [] });
  });
});
