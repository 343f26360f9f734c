import type { Sql } from "../../src/db/client.ts";
import type { BenchServer } from "../harness/server.ts";
import { type BenchProject, writeFiles } from "./world.ts";

const POLL_MS = 10;
const CHANGE_INTERVAL_MS = 250;
const LAG_INTERVAL_MS = 100;

/** A page of results, as far as benchmarks read it. */
export interface Page {
  readonly page_info: { readonly next: string | null };
  readonly returned: number;
  readonly total_matches: number;
  readonly shard: { readonly total_items: number };
}

/** Looks knowledge up over HTTP. */
export class Client {
  constructor(
    readonly server: BenchServer,
    private readonly apiKey: string,
  ) {}

  async page(project: BenchProject, body: object): Promise<Page> {
    const response = await fetch(new URL(project.lookupPath, this.server.url), {
      method: "POST",
      headers: { "x-api-key": this.apiKey, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.json()) as Page;
  }

  /** Repeats a lookup until its page satisfies the condition. */
  async until(project: BenchProject, body: object, done: (page: Page) => boolean): Promise<void> {
    while (!done(await this.page(project, body))) await Bun.sleep(POLL_MS);
  }
}

/**
 * Watches how many of the written documents are not searchable yet. The returned function stops that,
 * and returns the numbers that were seen.
 */
export function watchLag(
  client: Client,
  project: BenchProject,
  written: () => number,
): () => Promise<number[]> {
  const lags: number[] = [];
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const before = written();
      const { shard } = await client.page(project, {});
      lags.push(Math.max(0, before - shard.total_items));
      await Bun.sleep(LAG_INTERVAL_MS);
    }
  })();
  return async () => {
    stopped = true;
    await watching;
    return lags;
  };
}

/**
 * Changes one file repeatedly. The returned function stops that, and returns how many milliseconds
 * each change took to be visible.
 */
export function watchChanges(
  sql: Sql,
  client: Client,
  project: BenchProject,
): () => Promise<number[]> {
  const times: number[] = [];
  let stopped = false;
  const watching = (async () => {
    for (let i = 0; !stopped; i++) {
      const word = `w${Bun.hash(String(i)).toString(36)}`;
      await writeFiles(sql, project, [{ path: "note.md", text: word }]);
      const start = performance.now();
      await client.until(project, { query: word }, (page) => page.total_matches > 0);
      times.push(performance.now() - start);
      await Bun.sleep(CHANGE_INTERVAL_MS);
    }
  })();
  return async () => {
    stopped = true;
    await watching;
    return times;
  };
}
