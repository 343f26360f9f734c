import { expect, jest, test } from "bun:test";
import { join } from "node:path";
import { FieldIndex } from "../../../../src/index/fields/field-index.ts";
import { FieldWork } from "../../../../src/index/fields/field-work.ts";
import { DerivedScopes } from "../../../../src/index/projects/derived-scopes.ts";
import { matchVersions } from "../../../../src/index/projects/match-versions.ts";
import { scopeFields } from "../../../../src/index/projects/scope-fields.ts";
import type { VersionReader } from "../../../../src/index/versions/version-index.ts";
import { VersionTable } from "../../../../src/index/versions/version-table.ts";
import { advance, turns, useFakeClock } from "../../../../support/fake-clock.ts";
import { PROJECT_ROOT } from "../../../../support/processes/process.ts";
import { PLAIN_NAMES } from "../plain-names.ts";

useFakeClock();

/** Longer than work takes and waits for its turn. */
const LONG_MS = 1_000;
const SOURCES = join(PROJECT_ROOT, "src");
const TARGET = { projectId: "project", scopeId: "a" } as const;

const reader: VersionReader = {
  async *chunks() {},
  async *documents() {},
  async *fields(ids) {
    const more = { head: "text", dimensions: [768], metadata: "[{}]" };
    yield ids.map((id) => ({ file_version_id: id, path: `${id}.md`, ...more }));
  },
};

const fields = new FieldIndex(PLAIN_NAMES);
const table = new VersionTable();
fields.openProject(TARGET.projectId, table);
await fields.add(TARGET.projectId, ["v"], reader);
table.setScope(TARGET.scopeId, table.setOf(["v"]));

const fieldWork = new FieldWork();
const context = { fields, reader, fieldWork, indexes: [fields] };
const scopes = new DerivedScopes(TARGET.projectId, context as never);

/** All work on fields in the indexing thread, by its file. */
const WORK: Readonly<Record<string, (tenant: string) => Promise<unknown>>> = {
  "index/projects/derived-scopes.ts": (tenant) => {
    const filter = { base: "a", json: JSON.stringify({ path: `${tenant}.md` }) };
    const scope = { id: `a#${tenant}`, kind: "environment", filter } as const;
    return scopes.ensure({ scope, tenant, indexes: ["fields"] });
  },
  "index/projects/match-versions.ts": (tenant) =>
    matchVersions(context, {
      projectId: TARGET.projectId,
      tenant,
      filter: `{"path":"v.md"}`,
      // The second one is read from the database.
      versionIds: ["v", "w"],
    }),
  "index/projects/scope-fields.ts": (tenant) => scopeFields(context, { ...TARGET, tenant }),
};

test("every piece of work on fields takes a turn of the user who asks, and keeps others waiting for none", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = fieldWork.inTurn("greedy", () => promise);
  const all = Object.values(WORK);
  const done = async (tenant: string, works = all) => {
    const results = works.map((work) => work(tenant));
    await advance(LONG_MS);
    return await Promise.all(results);
  };
  expect(await done("greedy")).toEqual(all.map(() => "late"));
  for (const result of await done("modest")) {
    expect(result).toBeTruthy();
    expect(result).not.toBe("late");
  }
  resolve();
  await held;
  for (const work of all) expect(await done("greedy", [work])).not.toEqual(["late"]);
});

test("evaluations of two users follow each other slice by slice, and leave the thread to others in between", async () => {
  const [SLICE_MS, SLICES] = [5, 3];
  const work = new FieldWork(SLICE_MS);
  const order: string[] = [];
  function* evaluation(user: string) {
    for (let step = 0; step < SLICES * SLICE_MS; step++) {
      order.push(user);
      jest.advanceTimersByTime(1);
      yield;
    }
  }
  const users = ["a", "b"];
  const all = users.map((user) => work.inTurn(user, (evaluate) => evaluate(evaluation(user))));
  await turns();
  const slice = (user: string | undefined) => Array(SLICE_MS).fill(user);
  expect(order).toEqual(slice("a"));
  await advance(LONG_MS);
  await Promise.all(all);
  expect(order).toEqual(Array(SLICES).fill(users.flatMap(slice)).flat());
});

test("no other work on fields is admitted than that", async () => {
  const found: string[] = [];
  for await (const path of new Bun.Glob("**/*.ts").scan(SOURCES)) {
    const text = await Bun.file(join(SOURCES, path)).text();
    for (const [, first] of text.matchAll(/\.inTurn\((\w+)/g)) found.push(`${path}: ${first}`);
  }
  expect(found.sort()).toEqual(
    Object.keys(WORK)
      .map((path) => `${path}: tenant`)
      .sort(),
  );
});
