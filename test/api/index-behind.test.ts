import { afterAll, describe, expect, test } from "bun:test";
import { CHANGE_WAIT_MAX_MS } from "../../src/domain/limits.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { type Answer, startApi } from "../../support/api/api.ts";
import { until } from "../../support/until.ts";

const api = await startApi();
const { owner, project: made } = await api.ownedProject();
await addEnvironment(api.sql, made, "production");
const project = `/projects/${made.slug}`;
const put = (path: string) => api.putText(owner, made, path, "# Note\n");
const tokenOf = ({ headers }: Answer) => headers.get("x-change") as string;
const lookUp = (query: string, parameters = "", signal?: AbortSignal) =>
  fetch(`${api.url}${project}/knowledge/lookup${parameters}`, {
    method: "POST",
    headers: { ...owner.headers, "content-type": "application/json" },
    body: JSON.stringify({ query }),
    ...(signal === undefined ? {} : { signal }),
  });

/** The processes of PostgreSQL that answer the indexing thread, whichever connections it has opened. */
const indexing = async (): Promise<number[]> =>
  (
    await api.sql<{ pid: number }[]>`
      SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'tessera-indexer'`
  ).map(({ pid }) => pid);

const stopped = new Set<number>();
let isFrozen = false;
/** Keeps the indexing thread from reading anything, also on new connections. */
async function freeze(): Promise<void> {
  isFrozen = true;
  const stop = async () => {
    for (const pid of await indexing()) {
      if (stopped.has(pid)) continue;
      process.kill(pid, "SIGSTOP");
      stopped.add(pid);
    }
  };
  await stop();
  void (async () => {
    while (isFrozen) {
      await stop();
      await Bun.sleep(20);
    }
  })();
}
function thaw(): void {
  isFrozen = false;
  for (const pid of stopped) process.kill(pid, "SIGCONT");
  stopped.clear();
}
afterAll(thaw);

describe("while the index lacks a change", () => {
  test("reads that name the change are answered 503 index-behind in time, others from the present index", async () => {
    const first = tokenOf(await put("first.md"));
    expect((await lookUp("first", `?min_change=${first}`)).status).toBe(200);
    const complete = await lookUp("zzzz");
    expect([complete.status, complete.headers.get("x-index-behind")]).toEqual([200, null]);
    await freeze();
    const token = tokenOf(await put("second.md"));
    const startedAt = performance.now();
    const reads = [
      lookUp("second", `?min_change=${token}`),
      fetch(`${api.url}${project}/fields?min_change=${token}`, { headers: owner.headers }),
    ];
    // While they wait, other requests are answered, and an answer that found nothing says what it may lack.
    const empty = await lookUp("zzzz");
    expect([empty.status, Number(empty.headers.get("x-index-behind")) > 0]).toEqual([200, true]);
    const known = await lookUp("first", `?min_change=${first}`);
    expect([known.status, known.headers.get("x-index-behind")]).toEqual([200, null]);
    const ending = new AbortController();
    const given = lookUp("second", `?min_change=${token}`, ending.signal).catch(() => "ended");
    ending.abort();
    expect(await given).toBe("ended");
    for (const read of reads) {
      const answer = await read;
      const { slug: type } = (await answer.json()) as { slug: string };
      expect([answer.status, type]).toEqual([503, "index-behind"]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(performance.now() - startedAt).toBeGreaterThan(CHANGE_WAIT_MAX_MS - 500);
    const file = await fetch(`${api.url}${project}/files/second.md?min_change=${token}`, owner);
    expect(file.status).toBe(200);
    thaw();
    const found = async () => (await lookUp("second", `?min_change=${token}`)).status === 200;
    await until("the change is applied", found);
  });
});
