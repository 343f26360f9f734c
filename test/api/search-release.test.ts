import { describe, expect, test } from "bun:test";
import { addRelease } from "../../support/accounts.ts";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import {
  chunkOf,
  filledRelease,
  nearVector,
  randomVector,
  release,
  writeVersion,
} from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";

const DIMENSION = 1024;
const api = await sharedApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const query = randomVector(DIMENSION, 1);
const body = { vector: Array.from(query), dimension: DIMENSION };

/** Two versions of one file, and another file, each with a few chunks. */
const chunksNear = (seed: number) =>
  Array.from({ length: 4 }, (_, i) => chunkOf(nearVector(query, 0.1 * (i + 1), seed + i)));
const [older, newer, alone] = await sql.begin(async (tx) => [
  await writeVersion(tx as never, project, "a.md", chunksNear(10)),
  await writeVersion(tx as never, project, "a.md", chunksNear(20)),
  await writeVersion(tx as never, project, "b.md", chunksNear(30)),
]);
const v1 = await filledRelease(sql, project, "v1.0.0", [older]);
const v2 = await filledRelease(sql, project, "v2.0.0", [newer, alone]);
await sql`UPDATE releases SET frozen_at = now() WHERE id IN (${v1.id}, ${v2.id})`;

const pathOf = (version: string) => `/projects/${project.slug}/releases/${version}/search`;
const look = (version: string, json: unknown = body, as: Caller = member) =>
  api.post(pathOf(version), json, as);
const idsOf = (answer: { body: Json }) => answer.body.data.map((hit: Json) => hit.chunk.id).sort();
const chunkIds = (...versions: { chunks: readonly { id: string }[] }[]) =>
  versions.flatMap(({ chunks }) => chunks.map(({ id }) => id)).sort();

describe("POST /projects/{project_reference}/releases/{version}/search", () => {
  test("a release is found by name and by id, and contains only its own versions", async () => {
    for (const version of ["v1.0.0", v1.id, v1.id.toUpperCase()]) {
      const answer = await look(version);
      expect(answer.status).toBe(200);
      expect(idsOf(answer)).toEqual(chunkIds(older));
      expect(answer.body.page_info.self).toBe(pathOf(version));
    }
    expect(idsOf(await look("v2.0.0"))).toEqual(chunkIds(newer, alone));
  });

  test("an id takes precedence over another release of that name", async () => {
    const named = await filledRelease(sql, project, v1.id, [alone]);
    expect(idsOf(await look(v1.id))).toEqual(chunkIds(older));
    expect(idsOf(await look(named.id))).toEqual(chunkIds(alone));
  });

  test("a release of another project with the same name is not searched", async () => {
    const other = await api.project(member);
    const theirs = await addRelease(sql, other, "v1.0.0");
    const answer = await api.post(`/projects/${other.id}/releases/v1.0.0/search`, body, member);
    expect(answer.body.data).toEqual([]);
    const crossed = `/projects/${project.id}/releases/${theirs.id}/search`;
    expect((await api.post(crossed, body, member)).body.slug).toBe("release-not-found");
  });
});

describe("revalidating the answer of a release", () => {
  const ask = (version: string, ifNoneMatch: string | undefined, json: unknown = body) =>
    api.send("POST", pathOf(version), {
      as: member,
      json,
      headers: ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch },
    });

  test("a repeated query of a frozen release answers 304 without a body", async () => {
    const first = await ask("v1.0.0", undefined);
    const etag = first.headers.get("etag") as string;
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await ask("v1.0.0", header);
      expect(again.status).toBe(304);
      expect(again.headers.get("etag")).toBe(etag);
      expect(again.text).toBe("");
    }
  });

  test("other queries, releases and body types have other entity tags", async () => {
    const etag = (await ask("v1.0.0", undefined)).headers.get("etag") as string;
    expect((await ask("v1.0.0", etag, { ...body, limit: 3 })).status).toBe(200);
    expect((await ask("v1.0.0", etag, { ...body, filter: { path: "a.md" } })).status).toBe(200);
    expect((await ask("v2.0.0", etag)).status).toBe(200);
    expect((await ask("v1.0.0", '"nonsense"')).status).toBe(200);
  });

  test("a release that is not frozen is revalidated by its results", async () => {
    const open = await filledRelease(sql, project, "open", [alone]);
    const before = await ask("open", undefined);
    const etag = before.headers.get("etag") as string;
    expect(idsOf(before)).toEqual(chunkIds(alone));
    await release(sql, project, open.id, [older]);
    let after = before;
    // The same results are answered by 304, until the index has the change.
    await until("the results of the changed release are answered", async () => {
      after = await ask("open", etag);
      return after.status !== 304 && after.body.data.length === 8;
    });
    expect(after.status).toBe(200);
    expect(idsOf(after)).toEqual(chunkIds(alone, older));
    expect(after.headers.get("etag")).not.toBe(etag);
  });

  test("a frozen release whose embeddings an embedder computes is revalidated by its results", async () => {
    const own = await api.project(member);
    const texts = { record: "file", path: "a.md", content: "# A\n\nText." };
    await importsOf(api, member).report(own, [{ ...texts, releases: ["v1"] }]);
    const search = (ifNoneMatch?: string) =>
      api.send("POST", `/projects/${own.slug}/releases/v1/search`, {
        as: member,
        json: body,
        headers: ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch },
      });
    const tagOf = async (ifNoneMatch?: string) => {
      const answer = await search(ifNoneMatch);
      return [answer.status, answer.headers.get("etag")] as [number, string];
    };
    const [, fixed] = await tagOf();
    expect((await tagOf(fixed))[0]).toBe(304);
    await sql`UPDATE projects SET embedder = 'away:none:768' WHERE id = ${own.id}`;
    await until(
      "searches know that an embedder computes the embeddings",
      async () => (await tagOf(fixed))[0] === 200,
    );
    const [, computed] = await tagOf();
    expect((await tagOf(computed))[0]).toBe(304);
  });
});
