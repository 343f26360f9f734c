import { beforeAll, describe, expect, test } from "bun:test";
import { addEnvironment } from "../../support/accounts.ts";
import { type Answer, type Caller, ENGINE_VARIABLE, sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import {
  attach,
  chunkOf,
  filledRelease,
  nearVector,
  randomVector,
  writeVersion,
} from "../../support/api/versions.ts";
import { randomNumbers } from "../../support/random.ts";
import { SEED } from "../../support/seed.ts";
import { nearest, searchForms } from "./searches.ts";

const DIMENSION = 768;
const CHUNKS = 300;
const api = await sharedApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const environment = await addEnvironment(sql, project);
const next = randomNumbers(SEED);
const seed = () => Math.floor(next() * 2 ** 31);
const centre = randomVector(DIMENSION, seed());
const chunks = Array.from({ length: CHUNKS }, () => chunkOf(nearVector(centre, 1, seed())));
const version = await writeVersion(sql, project, "docs/all.md", chunks);
await attach(sql, project, environment.id, [version]);
const frozen = await filledRelease(sql, project, "v1.0.0", [version]);
await sql`UPDATE releases SET frozen_at = now() WHERE id = ${frozen.id}`;

const base = `/projects/${project.slug}`;
const OPERATIONS = [
  {
    name: "environments",
    path: `${base}/environments/production/search`,
    empty: `${base}/environments/empty/search`,
  },
  {
    name: "releases",
    path: `${base}/releases/v1.0.0/search`,
    empty: `${base}/releases/v0.0.0/search`,
  },
];
await addEnvironment(sql, project, "empty");
await filledRelease(sql, project, "v0.0.0", []);

/** The engine pgvector compares the vectors of a scope of this size at once. */
const planOf300Chunks = process.env[ENGINE_VARIABLE] === "pgvector" ? "exact" : "scan";

const TIMING = /^parse;dur=(\d+\.\d{3}), search;dur=(\d+\.\d{3}), render;dur=(\d+\.\d{3})$/;

/** The milliseconds in the header; fails when it is not well-formed. */
function timesOf({ headers }: Answer): number[] {
  const times = TIMING.exec(headers.get("server-timing") ?? "")
    ?.slice(1)
    .map(Number);
  expect(times, String(headers.get("server-timing"))).toHaveLength(3);
  return times as number[];
}

describe.each(OPERATIONS)("the effort of searches in $name", ({ path, empty }) => {
  const json = { vector: Array.from(centre), dimension: DIMENSION };

  beforeAll(async () => {
    // The first search of a scope waits until it is indexed.
    expect((await api.post(path, json, member)).status).toBe(200);
  });

  test("an exact search finds what brute force finds, for every form of the body", async () => {
    const query = nearVector(centre, 1, seed());
    const wanted = nearest(chunks, query, 10, 0);
    for (const ask of searchForms(api, member, path, query, { threshold: 0 })) {
      const answer = await ask("effort=exact");
      expect(answer.status).toBe(200);
      const hits: Json[] = answer.body.data;
      expect(hits.map((hit) => hit.chunk.id)).toEqual(wanted.map(({ id }) => id));
      for (const [i, { score }] of wanted.entries()) expect(hits[i].score).toBeCloseTo(score, 6);
      expect(answer.headers.get("x-search-plan")).toBe("exact");
      timesOf(answer);
    }
  });

  test("every answer has headers with its plan and its times, for every form of the body", async () => {
    for (const ask of searchForms(api, member, path, nearVector(centre, 1, seed()))) {
      const answer = await ask("");
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-search-plan")).toBe(planOf300Chunks);
      const [, search] = timesOf(answer);
      expect(search).toBeCloseTo(answer.body.search_time_ms, 3);
    }
  });

  test("a scope without chunks of the dimension has the plan empty, however it is searched", async () => {
    for (const parameters of ["", "?effort=exact"]) {
      const answer = await api.post(empty + parameters, json, member);
      expect(answer.body.data).toEqual([]);
      expect(answer.headers.get("x-search-plan")).toBe("empty");
      timesOf(answer);
    }
  });
});

test("a frozen release has a tag of its own for exact answers, which can be revalidated", async () => {
  const path = `${base}/releases/v1.0.0/search`;
  const json = { vector: Array.from(centre), dimension: DIMENSION };
  const ask = (at: string, as: Caller = member) => api.post(at, json, as);
  const [planned, exact] = [await ask(path), await ask(`${path}?effort=exact`)];
  const tag = exact.headers.get("etag") as string;
  expect(tag).not.toBe(planned.headers.get("etag") as string);
  const headers = { ...member.headers, "if-none-match": tag };
  const again = await ask(`${path}?effort=exact`, { ...member, headers });
  expect(again.status).toBe(304);
  expect(again.headers.get("x-search-plan")).toBeNull();
});
