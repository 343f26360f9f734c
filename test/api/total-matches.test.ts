import { beforeAll, describe, expect, test } from "bun:test";
import { addEnvironment } from "../../support/accounts.ts";
import { ENGINE_VARIABLE, sharedApi } from "../../support/api/api.ts";
import {
  attach,
  chunkOf,
  cosineOf,
  filledRelease,
  nearVector,
  randomVector,
  writeVersion,
} from "../../support/api/versions.ts";
import { searchForms } from "./searches.ts";

const DIMENSION = 768;
const FEW = 300;
/** More than an index counts without being asked. */
const MANY = 2_400;
const THRESHOLD = 0.7;

const api = await sharedApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const INDEXED_WITHIN_MS = 120_000;
const centre = randomVector(DIMENSION, 1);
const chunks = Array.from({ length: MANY }, (_, i) =>
  chunkOf(nearVector(centre, (3 * i) / MANY, i)),
);
/** Every tenth, so that all distances from the centre occur. */
const few = chunks.filter((_, i) => i % (MANY / FEW) === 0);
const versions = {
  few: await writeVersion(
    sql,
    project,
    "few.md",
    few.map(({ vector }) => chunkOf(vector)),
  ),
  many: await writeVersion(sql, project, "many.md", chunks),
};
for (const [name, version] of Object.entries(versions)) {
  await attach(sql, project, (await addEnvironment(sql, project, name)).id, [version]);
  await filledRelease(sql, project, name, [version]);
}

const truth = (list: typeof chunks) =>
  list.filter(({ vector }) => cosineOf(vector, centre) >= THRESHOLD).length;

describe.each(["environments", "releases"])("the matches of a search in %s", (kind) => {
  const pathOf = (name: string) => `/projects/${project.slug}/${kind}/${name}/search`;
  const json = { vector: Array.from(centre), dimension: DIMENSION };
  const forms = (name: string, limit: number) =>
    searchForms(api, member, pathOf(name), centre, { limit, threshold: THRESHOLD });

  /** Storing the vectors of a large scope in PostgreSQL may take longer than a search waits for it. */
  async function searched(name: string) {
    for (;;) {
      const answer = await api.post(pathOf(name), json, member);
      if (answer.status !== 503) return answer;
    }
  }

  beforeAll(async () => {
    for (const name of ["few", "many"]) expect((await searched(name)).body.data).toHaveLength(10);
  }, INDEXED_WITHIN_MS);

  test("of a small scope are counted, whatever the limit and the form of the body", async () => {
    const wanted = truth(few);
    expect(wanted).toBeGreaterThan(10);
    for (const limit of [1, 100]) {
      for (const parameters of ["", "effort=exact", "count=exact"]) {
        for (const ask of forms("few", limit)) {
          const { status, headers, body } = await ask(parameters);
          expect(status).toBe(200);
          expect(body.data).toHaveLength(Math.min(limit, wanted));
          expect(body.total_matches).toBe(wanted);
          expect(headers.get("x-total-matches")).toBe("exact");
        }
      }
    }
  });

  test("of a large scope are a lower bound, and are counted on demand", async () => {
    const wanted = truth(chunks);
    for (const limit of [1, 100]) {
      for (const ask of forms("many", limit)) {
        const { headers, body } = await ask("");
        expect(body.total_matches).toBeWithin(body.data.length, wanted + 1);
        if (process.env[ENGINE_VARIABLE] !== "pgvector") {
          expect(headers.get("x-total-matches")).toBe("at-least");
        }
      }
      for (const parameters of ["count=exact", "effort=exact"]) {
        for (const ask of forms("many", limit)) {
          const { headers, body } = await ask(parameters);
          expect(body.data).toHaveLength(Math.min(limit, wanted));
          expect(body.total_matches).toBe(wanted);
          expect(headers.get("x-total-matches")).toBe("exact");
        }
      }
    }
  });

  test("of a scope without chunks of the dimension are none, exactly", async () => {
    const other = { vector: Array.from(randomVector(1_024, 2)), dimension: 1_024 };
    const { headers, body } = await api.post(pathOf("few"), other, member);
    expect(body).toMatchObject({ data: [], total_matches: 0 });
    expect(headers.get("x-total-matches")).toBe("exact");
  });
});
