import { expect, test } from "bun:test";
import { base64Of } from "../../src/domain/vector.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { startApi } from "../../support/api/api.ts";
import {
  attach,
  chunkOf,
  nearVector,
  randomVector,
  writeVersion,
} from "../../support/api/versions.ts";
import { until } from "../../support/until.ts";

const DIMENSION = 768;
const api = await startApi();
const { sql } = api;
const member = await api.user();
const centre = randomVector(DIMENSION, 1);

async function searchable() {
  const project = await api.project(member);
  const environment = await addEnvironment(sql, project);
  const chunks = Array.from({ length: 200 }, (_, i) => chunkOf(nearVector(centre, 1, i + 2)));
  await attach(sql, project, environment.id, [await writeVersion(sql, project, "a.md", chunks)]);
  return { id: project.id, path: `/projects/${project.slug}/environments/production/search` };
}

const project = await searchable();
/** Searched exactly only. */
const exact = await searchable();

async function metric(name: string): Promise<number | undefined> {
  const { text } = await api.get("/metrics");
  const value = new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}

/** Searches in every form of body, and exactly in between, until the condition holds. */
async function searchUntil(what: string, done: () => Promise<boolean>): Promise<void> {
  let seed = 1_000;
  await until(what, async () => {
    if (await done()) return true;
    const query = nearVector(centre, 1, seed++);
    const vector = seed % 2 === 0 ? base64Of(query) : Array.from(query);
    const json = { vector, dimension: DIMENSION, threshold: 0 };
    expect((await api.post(`${exact.path}?effort=exact`, json, member)).status).toBe(200);
    expect((await api.post(project.path, json, member)).status).toBe(200);
    return false;
  });
}

const SAMPLES = "tessera_search_recall_samples_total";

test("the recall of live searches is a metric once a search was measured", async () => {
  expect(await metric("tessera_search_recall_ratio")).toBeUndefined();
  expect(await metric(SAMPLES)).toBe(0);
  await searchUntil("three searches are measured", async () => ((await metric(SAMPLES)) ?? 0) >= 3);
  expect(await metric("tessera_search_recall_ratio")).toBe(1);
});

test("the state of the indexes, for the command line, holds the recall and its samples, of which exact searches are none", async () => {
  const rows = ({ id }: { id: string }) => sql<
    { recall: number | null; samples: number | null }[]
  >`SELECT recall, recall_samples AS samples FROM index_state
    WHERE project_id = ${id} AND dimension > 0`;
  const reported = async () => (await rows(project)).some(({ recall }) => recall !== null);
  await searchUntil("the recall is reported", reported);
  expect((await rows(exact)).map(({ recall }) => recall)).toEqual([null]);
  const [row] = await rows(project);
  expect(row?.recall).toBe(1);
  expect(row?.samples).toBeGreaterThanOrEqual(1);
});
