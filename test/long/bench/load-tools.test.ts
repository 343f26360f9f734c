import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bodiesCommand, writeBodies } from "../../../bench/load/bodies.ts";
import { statusOf } from "../../../bench/load/program.ts";
import { startApi } from "../../../support/api/api.ts";
import { file, importsOf, PRODUCTION } from "../../../support/api/imports.ts";
import { temporaryFolder } from "../../../support/folders.ts";
import { PROJECT_ROOT } from "../../../support/processes/process.ts";
import { lacks, programPath } from "../../../support/programs.ts";
import { makeVectors } from "../../../support/vectors.ts";
import { inProcess } from "./in-process.ts";

const FILES = 12;
const CHUNKS_PER_FILE = 2;
const DIMENSION = 768;
const api = await startApi({ env: { SEARCH_WORKERS: "1" } });
const owner = await api.user();
const project = await api.project(owner, { slug: "handbook" });
const vectors = makeVectors("text", FILES * CHUNKS_PER_FILE, DIMENSION, 1);
const chunksOf = (number: number) =>
  Array.from({ length: CHUNKS_PER_FILE }, (_, i) => {
    const first = (number * CHUNKS_PER_FILE + i) * DIMENSION;
    const vector = vectors.slice(first, first + DIMENSION);
    return { content: `Chunk ${i}.`, embedding: Buffer.from(vector.buffer).toString("base64") };
  });
await importsOf(api, owner).report(project, [
  PRODUCTION,
  ...Array.from({ length: FILES }, (_, number) => ({
    ...file(`docs/${number}.md`, { content: "The index and its snapshots." }),
    chunks: chunksOf(number),
  })),
]);
const { key } = await api.key(owner);
const url = `${api.url}/projects/handbook/environments/production/search`;
const out = temporaryFolder("bodies");
const bodies = join(out, "bodies.ndjson");
const target = ["--url", api.url, "--key", key, "--project", "handbook"];

/** Runs `bench load/bodies` in this process. */
async function bench(...args: string[]) {
  const { context, written } = inProcess();
  const status = await statusOf(bodiesCommand(), [...target, ...args], context, writeBodies);
  return { status, stdout: written.out, stderr: written.errors };
}

const written = await bench("--out", out);

describe("bench load/bodies", () => {
  test("writes valid search bodies and the commands that send them, without the key", async () => {
    expect(written.status, written.stderr).toBe(0);
    for (const tool of ["wrk -t2", "oha -z", "k6 run"]) expect(written.stdout).toContain(tool);
    expect(written.stdout).toContain(url);
    const lines = readFileSync(bodies, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(FILES * CHUNKS_PER_FILE);
    const answer = await api.post(new URL(url).pathname, JSON.parse(lines[0] ?? ""), {
      userId: "",
      headers: { "x-api-key": key },
    });
    expect([answer.status, answer.body.data.length]).toEqual([200, 10]);
    expect(written.stdout + lines.join("")).not.toContain(key);
  });

  test("writes base64 and generated vectors, too", async () => {
    const args = ["--generate", "text", "--query-count", "3", "--body", "base64", "--limit", "5"];
    const folder = temporaryFolder("bodies");
    const { status } = await bench(...args, "--out", folder);
    expect(status).toBe(0);
    const lines = readFileSync(join(folder, "bodies.ndjson"), "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(3);
    const body = JSON.parse(lines[0] ?? "");
    expect(body).toMatchObject({ dimension: 768, limit: 5, threshold: 0 });
    expect(Buffer.from(body.vector, "base64")).toHaveLength(768 * 4);
  });
});

test.skipIf(lacks("wrk"))(
  "wrk sends the bodies with its script, and the service answers them",
  async () => {
    const child = Bun.spawn(
      [programPath("wrk"), "-t2", "-c2", "-d1s", "-s", "bench/wrk/search.lua", url],
      {
        cwd: PROJECT_ROOT,
        env: { PATH: process.env["PATH"] ?? "", BODIES: bodies, TESSERA_API_KEY: key },
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect(await child.exited, stderr).toBe(0);
    expect(Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1])).toBeGreaterThan(0);
    expect(stdout).toMatch(/^p99\.9: [\d.]+ ms$/m);
    expect(stdout).toMatch(/^refused with 503: \d+, other statuses: 0$/m);
  },
);
