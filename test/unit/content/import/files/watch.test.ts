import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { EventEmitter } from "node:events";
import { settledScan, watchFolder } from "../../../../../src/content/import/files/watch.ts";
import type { MarkdownFolder } from "../../../../../src/documents/conversion/folder.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

async function pass(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms);
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

class FakeWatcher extends EventEmitter {
  isClosed = false;

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** Watches a folder with a watcher whose events come from the test. */
async function watched() {
  const watcher = new FakeWatcher();
  const faults: string[] = [];
  let isIgnored = (_: string) => false;
  const changes = await watchFolder(
    "/docs",
    (fault) => faults.push(fault),
    (_, { ignored }) => {
      isIgnored = ignored;
      return watcher;
    },
  );
  let runs = 0;
  const loop = (async () => {
    for await (const _ of changes) runs++;
  })();
  loop.catch(() => {});
  const fail = (code: string, path?: string) =>
    watcher.emit("error", Object.assign(new Error(`${code}: no`), { code, path }));
  return { watcher, faults, fail, isIgnored: (path: string) => isIgnored(path), runs: () => runs };
}

test("a watch that fails says so with a remedy, once for each place, and goes on", async () => {
  const { watcher, faults, fail, runs } = await watched();
  fail("EACCES", "/docs/private");
  fail("EACCES", "/docs/private");
  fail("ENOSPC", "/docs/a");
  fail("ENOSPC", "/docs/b");
  fail("EMFILE");
  fail("EIO");
  expect(faults).toEqual([
    expect.stringMatching(/^\/docs\/private cannot be watched.* EACCES; .*right to read/),
    expect.stringMatching(/^a part of \/docs cannot.* ENOSPC; .*fs\.inotify\.max_user_watches=\d+/),
    expect.stringMatching(/EMFILE; .*fs\.inotify\.max_user_instances/),
    expect.stringMatching(/EIO: no$/),
  ]);
  for (let i = 0; i < 50; i++) fail("EACCES", `/docs/${i}`);
  expect(faults).toHaveLength(5);
  watcher.emit("all");
  await pass(299);
  expect(runs()).toBe(0);
  await pass(1);
  expect(runs()).toBe(1);
});

test("changes that follow each other are one", async () => {
  const { watcher, runs } = await watched();
  for (let i = 0; i < 10; i++) {
    watcher.emit("all");
    await pass(200);
  }
  expect(runs()).toBe(0);
  await pass(100);
  expect(runs()).toBe(1);
});

test("dot folders and packages are not watched", async () => {
  const { isIgnored } = await watched();
  for (const path of [
    ".git",
    ".git/objects/ab",
    "a/.obsidian/x.json",
    "node_modules",
    "a/node_modules/b/c.md",
  ]) {
    expect(isIgnored(`/docs/${path}`), path).toBeTrue();
  }
  for (const path of ["/docs", "/docs/a", "/docs/a.md", "/docs/a/my.git.md"]) {
    expect(isIgnored(path), path).toBeFalse();
  }
});

/** A scan of a folder that has these files. */
function scanned(...states: string[][]) {
  let at = 0;
  const find = () => {
    const paths = states[Math.min(at++, states.length - 1)] as string[];
    const files = paths.map((path) => ({ file: path, path }));
    return { files, rejected: [], links: [], others: new Map() } satisfies MarkdownFolder;
  };
  const scan = settledScan(find);
  const next = async () => (await scan()).files.map(({ path }) => path);
  return { next, scans: () => at };
}

test("a file that is written again within two seconds was not removed", async () => {
  const { next, scans } = scanned(["a", "b"], ["b"], ["a", "b"]);
  expect(await next()).toEqual(["a", "b"]);
  const second = next();
  await pass(1_999);
  expect(scans()).toBe(2);
  await pass(1);
  expect(await second).toEqual(["a", "b"]);
});

test("a file that is still gone after two seconds was removed", async () => {
  const { next } = scanned(["a", "b"], ["b"]);
  await next();
  const second = next();
  await pass(2_000);
  expect(await second).toEqual(["b"]);
  expect(await next()).toEqual(["b"]);
});

test("files that come and go meanwhile are not waited for", async () => {
  const { next } = scanned(["a", "b"], ["b", "1"], ["b", "2"], ["b", "3"]);
  await next();
  const second = next();
  await pass(2_000);
  expect(await second).toEqual(["b", "2"]);
});

test("a file that goes while another one is awaited is awaited, too", async () => {
  const { next, scans } = scanned(["a", "b"], ["b"], ["a"], ["a", "b", "c"]);
  await next();
  const second = next();
  await pass(2_000);
  expect(scans()).toBe(3);
  await pass(2_000);
  expect(await second).toEqual(["a", "b", "c"]);
});
