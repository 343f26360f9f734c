import { expect, test } from "bun:test";
import { FieldIndex } from "../../../../src/index/fields/field-index.ts";
import { FieldWork } from "../../../../src/index/fields/field-work.ts";
import { memberLists } from "../../../../src/index/fields/member-lists.ts";
import { DerivedScopes } from "../../../../src/index/projects/derived-scopes.ts";
import type { VersionReader } from "../../../../src/index/versions/version-index.ts";
import { VersionTable } from "../../../../src/index/versions/version-table.ts";
import { PLAIN_NAMES } from "../plain-names.ts";

const PROJECT = "project";
const VERSIONS = 200;
const idOf = (version: number) => `v${version}`;
const ids = Array.from({ length: VERSIONS }, (_, version) => idOf(version));

/** Each version has three chunks, of which a filter by `kind` matches the first one or all. */
const reader: VersionReader = {
  async *chunks() {},
  async *documents() {},
  async *fields(wanted) {
    yield wanted.map((id) => {
      const others = id === idOf(7) ? "other" : "wanted";
      const metadata = JSON.stringify(["wanted", others, others].map((kind) => ({ kind })));
      const dimensions = [0, 0, 0];
      return { file_version_id: id, path: `${id}.md`, head: null, dimensions, metadata };
    });
  },
};

const SCOPE = {
  id: "scope#filter",
  kind: "environment",
  filter: { base: "scope", json: '{"metadata.kind":"wanted"}' },
} as const;

/** The filtered part of a scope with all but the last version. */
async function derive() {
  const [fields, table] = [new FieldIndex(PLAIN_NAMES), new VersionTable()];
  fields.openProject(PROJECT, table);
  await fields.add(PROJECT, ids, reader);
  table.added(ids);
  table.setScope("scope", table.setOf(ids.slice(0, -1)));
  const context = { fields, fieldWork: new FieldWork(), indexes: [fields] } as never;
  const derived = new DerivedScopes(PROJECT, context);
  expect(await derived.ensure({ scope: SCOPE, tenant: "tenant", indexes: [] })).toBe(true);
  return { fields, table, derived };
}

test("the members among some versions are those that the scope holds, and no others are looked at", async () => {
  const { table, derived } = await derive();
  const members = derived.membersOf(SCOPE.id, [idOf(7), idOf(3), idOf(VERSIONS - 1), "unknown"]);
  if (members === undefined) throw new Error("the scope is not derived");
  expect([...members.numbers]).toEqual([3, 7]);
  expect(memberLists(table, members)).toEqual({
    ...{ versionIds: [idOf(3)], partIds: [idOf(7)], positions: [0] },
    sizes: new Map([[0, 4]]),
  });
  expect(derived.membersOf(SCOPE.id, [])?.numbers).toHaveLength(0);
  expect(derived.membersOf(SCOPE.id)?.numbers).toHaveLength(VERSIONS - 1);
  expect(derived.membersOf("none", ids)).toBeUndefined();
});

test("a version that is being added again is a member all the while", async () => {
  const { fields, table, derived } = await derive();
  const isListed = () => {
    const members = derived.membersOf(SCOPE.id, [idOf(3)]);
    return members && memberLists(table, members).versionIds;
  };
  table.readAgain([idOf(3)]);
  for (let times = 0; times < 2; times++) {
    await fields.add(PROJECT, [idOf(3)], reader);
    expect(isListed()).toEqual([idOf(3)]);
  }
  table.added([idOf(3)]);
  // The version has another number, under which its filter is evaluated first.
  expect(isListed()).toBeUndefined();
  await derived.ensure({ scope: SCOPE, tenant: "tenant", indexes: [] });
  expect(isListed()).toEqual([idOf(3)]);
});
