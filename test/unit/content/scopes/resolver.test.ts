import { afterAll, expect, test } from "bun:test";
import postgres from "postgres";
import type { Principal } from "../../../../src/auth/principal.ts";
import { type ScopeReference, ScopeResolver } from "../../../../src/content/scopes/resolver.ts";
import type { Sql } from "../../../../src/db/client.ts";
import { addEnvironment, addProject, addRelease, addUser } from "../../../../support/accounts.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";

const { sql, url } = await createTestDatabase();
let queries = 0;
const counting = postgres(url, {
  max: 1,
  fetch_types: false,
  debug: () => queries++,
  connection: { search_path: "public" },
}) as Sql;
afterAll(() => counting.end());

const userId = await addUser(sql);
const principal: Principal = {
  userId,
  identity: null,
  keyId: null,
  projectId: null,
  scopes: null,
  account: new Set(),
};
const project = await addProject(sql, userId);
const named = { project: project.slug, kind: "environment", name: "staging" } as const;

/** The result of `work`, and how many queries it took. */
async function counted<T>(work: () => T | Promise<T>): Promise<[T, number]> {
  const before = queries;
  const result = await work();
  return [result, queries - before];
}

test("a scope costs one query, and none while it is cached", async () => {
  const { id } = await addEnvironment(sql, project, "staging");
  const resolver = new ScopeResolver(counting);
  const resolve = () => resolver.resolve(principal, named);
  const known = { tenant: userId, projectId: project.id, id };
  const scope = {
    ...known,
    kind: "environment",
    frozen: false,
    hasFixedEmbeddings: false,
  } as const;
  expect(await counted(resolve)).toEqual([scope, 1]);
  expect(await counted(resolve)).toEqual([scope, 0]);
  expect(await counted(() => resolver.find(principal, named))).toEqual([scope, 0]);
  resolver.clear();
  expect(await counted(resolve)).toEqual([scope, 1]);
});

test("a missing scope is not cached, and its project is found all the same", async () => {
  const resolver = new ScopeResolver(sql);
  const reference = { project: project.slug, kind: "release", name: "v1" } as const;
  await expect(Promise.resolve(resolver.resolve(principal, reference))).rejects.toMatchObject({
    slug: "release-not-found",
  });
  expect(await resolver.find(principal, reference)).toMatchObject({ projectId: project.id });
  const { id } = await addRelease(sql, project, "v1");
  expect((await resolver.resolve(principal, reference)).id).toBe(id);
});

test("a project of other users is reported before an impossible name", async () => {
  const stranger = { ...principal, userId: await addUser(sql) };
  const resolver = new ScopeResolver(sql);
  const reference = { ...named, name: "a\0b" };
  const slugFor = (caller: Principal) =>
    Promise.resolve(resolver.resolve(caller, reference)).catch((error) => error.slug);
  expect(await slugFor(stranger)).toBe("project-not-found");
  expect(await slugFor(principal)).toBe("environment-not-found");
});

test("what is cached for a caller answers no other caller, key, project, kind or name", async () => {
  const [own, other] = [await addProject(sql, userId), await addProject(sql, userId)];
  const environment = await addEnvironment(sql, own, "same");
  const expected = {
    release: (await addRelease(sql, own, "same")).id,
    "of another project": (await addEnvironment(sql, other, "same")).id,
    "of another name": (await addEnvironment(sql, own, "next")).id,
    stranger: "project-not-found",
    "key of another project": "project-not-found",
    "key of the project": environment.id,
  };
  const resolver = new ScopeResolver(sql);
  const reference = { project: own.slug, kind: "environment", name: "same" } as const;
  const outcome = (caller: Principal, named: ScopeReference) =>
    Promise.resolve(resolver.resolve(caller, named)).then(
      ({ id }) => id,
      ({ slug }) => slug,
    );
  expect(await outcome(principal, reference)).toBe(environment.id);
  const stranger = { ...principal, userId: await addUser(sql) };
  expect({
    release: await outcome(principal, { ...reference, kind: "release" }),
    "of another project": await outcome(principal, { ...reference, project: other.slug }),
    "of another name": await outcome(principal, { ...reference, name: "next" }),
    stranger: await outcome(stranger, reference),
    "key of another project": await outcome({ ...principal, projectId: other.id }, reference),
    "key of the project": await outcome({ ...principal, projectId: own.id }, reference),
  }).toEqual(expected);
});

test("a read that has to see what was committed before does not use the cache", async () => {
  const own = await addProject(sql, userId);
  await addEnvironment(sql, own, "staging");
  const resolver = new ScopeResolver(counting);
  const reference = { project: own.id, kind: "environment", name: "staging" } as const;
  await resolver.resolve(principal, reference);
  expect((await counted(() => resolver.resolve(principal, reference)))[1]).toBe(0);
  expect((await counted(() => resolver.resolve(principal, reference, true)))[1]).toBe(1);
});
