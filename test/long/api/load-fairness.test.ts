import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  INDEX_TENANT_LOADS_MAX,
  INDEX_TENANT_LOADS_WAITING_MAX,
  OVERLOAD_RETRY_AFTER_SECONDS,
} from "../../../src/domain/limits.ts";
import { addEnvironment } from "../../../support/accounts.ts";
import {
  type Answer,
  type Caller,
  startApi,
  type TestApi,
  type TestProject,
} from "../../../support/api/api.ts";
import { attach, chunkOf, randomVector, writeVersion } from "../../../support/api/versions.ts";
import { until } from "../../../support/until.ts";

const DIMENSION = 768;
const CHUNKS = 20;
const query = {
  vector: Array.from(randomVector(DIMENSION, 1)),
  dimension: DIMENSION,
  threshold: 0,
};

let api: TestApi;

beforeAll(async () => {
  api = await startApi({ env: { INDEX_PRELOAD: "none" } });
});
afterAll(() => api.stop());

/** Environments of a project of one file, none of which is in memory. */
async function unloaded(owner: Caller, environments = 1) {
  const project = await api.project(owner);
  const chunks = Array.from({ length: CHUNKS }, (_, i) => chunkOf(randomVector(DIMENSION, i)));
  const version = await writeVersion(api.sql, project, "a.md", chunks);
  const names: string[] = [];
  for (let i = 0; i < environments; i++) {
    const { id, name } = await addEnvironment(api.sql, project, `environment-${i}`);
    await attach(api.sql, project, id, [version]);
    names.push(name);
  }
  return { project, names };
}

const search = (caller: Caller, project: TestProject, environment = "environment-0") =>
  api.post(`/projects/${project.id}/environments/${environment}/search`, query, caller);

/** Waits until requests wait for so many loads. */
async function untilPending(loads: () => number): Promise<void> {
  await until("requests wait for all their loads", async () => {
    const text = await (await fetch(`${api.url}/metrics`)).text();
    return Number(/^tessera_index_pending_loads (\d+)/m.exec(text)?.[1]) === loads();
  });
}

/** Runs `work` while no load can end, because none can read chunks. */
async function whileLoadsStall(work: () => Promise<void>): Promise<void> {
  await api.sql.begin(async (tx) => {
    await tx`LOCK TABLE chunks IN ACCESS EXCLUSIVE MODE`;
    await work();
  });
}

test("a search of an unloaded project does not wait for all projects that another user has asked for before", async () => {
  const PROJECTS = 40;
  const [greedy, modest] = [await api.user(), await api.user()];
  const many: TestProject[] = [];
  for (let i = 0; i < PROJECTS; i++) many.push((await unloaded(greedy)).project);
  const { project: one } = await unloaded(modest);
  const order: string[] = [];
  const answers: Array<Promise<void>> = [];
  const ask = (caller: Caller, project: TestProject, name: string) => {
    const asked = search(caller, project).then(({ status, body }) => {
      expect(status).toBe(200);
      expect(body.data.length).toBeGreaterThan(0);
      order.push(name);
    });
    answers.push(asked);
  };
  await whileLoadsStall(async () => {
    for (const project of many) ask(greedy, project, "greedy");
    await untilPending(() => PROJECTS);
    ask(modest, one, "modest");
    await untilPending(() => PROJECTS + 1);
  });
  await Promise.all(answers);
  expect(order.length).toBe(PROJECTS + 1);
  // After those that had begun, one more in turn, and a few that were answered faster.
  expect(order.indexOf("modest")).toBeLessThan(PROJECTS / 2);
});

test("a user who asks for too many unloaded scopes at once is refused as overloaded, and another user is not", async () => {
  const TOO_MANY = 5;
  const count = INDEX_TENANT_LOADS_MAX + INDEX_TENANT_LOADS_WAITING_MAX + TOO_MANY;
  const [greedy, modest] = [await api.user(), await api.user()];
  const { project, names } = await unloaded(greedy, count);
  const { project: one } = await unloaded(modest);
  const refusals: Answer[] = [];
  const answers: Array<Promise<number>> = [];
  const ask = async (caller: Caller, asked: TestProject, name: string) => {
    const answer = await search(caller, asked, name);
    if (answer.status !== 200) refusals.push(answer);
    return answer.status;
  };
  await whileLoadsStall(async () => {
    for (const name of names) answers.push(ask(greedy, project, name));
    await untilPending(() => count - refusals.length);
    expect(refusals.length).toBeGreaterThanOrEqual(TOO_MANY);
    answers.push(ask(modest, one, "environment-0"));
    await untilPending(() => count - refusals.length + 1);
  });
  // The other user's search comes last, and is answered. Those of the first, which all come at once now, may be too many.
  expect((await Promise.all(answers)).at(-1)).toBe(200);
  for (const { status, body, headers } of refusals) {
    expect(status).toBe(503);
    expect(body.slug).toBe("overloaded");
    expect(headers.get("retry-after")).toBe(String(OVERLOAD_RETRY_AFTER_SECONDS));
  }
  await untilPending(() => 0);
});
