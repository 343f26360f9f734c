import { expect, test } from "bun:test";
import { loadConfig } from "../../../../src/config/load.ts";
import { openEngine } from "../../../../src/engine/open.ts";
import type { RetrieveRequest } from "../../../../src/engine/requests/request.ts";
import { derivedScope, type Scope } from "../../../../src/engine/requests/scope.ts";
import { createLog } from "../../../../src/observability/log.ts";
import { createMetrics } from "../../../../src/observability/metrics.ts";
import { addEnvironment, addProject, addUser } from "../../../../support/accounts.ts";
import type { Json } from "../../../../support/api/openapi.ts";
import {
  attach,
  nearVector,
  publishTexts,
  randomVector,
  writeVersion,
} from "../../../../support/api/versions.ts";
import { onCleanup } from "../../../../support/cleanup.ts";
import { dataFolder } from "../../../../support/processes/embedded.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";
import { PLAIN } from "../../../../support/requests.ts";
import { until } from "../../../../support/until.ts";
import { hostileGlobs } from "../../shared/filter/filters.ts";

const DIMENSION = 768;

const { sql, url } = await createTestDatabase();
const config = loadConfig({ DATABASE_URL: url, DATA_DIR: dataFolder(), SEARCH_WORKERS: "1" });
const { signal } = new AbortController();
const opened = await openEngine(config, { url, sql }, createLog("silent"), createMetrics(), signal);
const { engine } = opened;
onCleanup(() => engine.close());

const user = await addUser(sql);
const project = await addProject(sql, user);
const environment = await addEnvironment(sql, project);
const centre = randomVector(DIMENSION, 1);

type Passages = ReadonlyArray<readonly [text: string, noise: number]>;

/** A file of passages, each with a vector at a distance from the centre. */
async function write(path: string, passages: Passages, hasVectors = true) {
  const chunks = passages.map(([content, noise], i) => {
    const vector = nearVector(centre, noise, path.length * 100 + i);
    return { id: crypto.randomUUID(), content, vector };
  });
  const version = await writeVersion(sql, project, path, chunks);
  if (!hasVectors) {
    await sql`UPDATE chunks SET embedding = NULL, dimension = NULL,
      metadata = jsonb_build_object('part', index, 'headings',
        jsonb_build_array(regexp_replace(split_part(content, E'\n', 1), '^#+ ', '')))
      WHERE file_version_id = ${version.id}`;
  }
  await attach(sql, project, environment.id, [version]);
  return version;
}

const boats = await write("boats.md", [
  ["# Boats\n\nA hull floats on water.", 3],
  ["## Sails\n\nThe spinnaker is hoisted downwind.", 3],
]);
const near = await write("near.md", [["# Near\n\nNothing of the question.", 0.1]]);
const both = await write("both.md", [["# Both\n\nA spinnaker again.", 0.2]]);
const bare: Passages = [
  ["# Bare\n\nNo vector at all.", 1],
  ["## Rigging\n\nA kite and its halyard.", 1],
];
const unembedded = await write("bare.md", bare, false);
const unchunked = "# Without chunks\n\nOne more spinnaker.";
await publishTexts(sql, project, environment, { "unchunked.md": unchunked });

await publishTexts(sql, project, environment, { "mizzen.md": "---\ntitle: Mizzen\n---\n" });

const scope: Scope = {
  ...{ tenant: user, projectId: project.id, id: environment.id },
  ...{ kind: "environment", frozen: false },
};

async function retrieve(options: Partial<RetrieveRequest>): Promise<Json> {
  const reply = await engine.retrieve({
    ...{ kind: "retrieve", scope, selfPath: "/self", mode: "hybrid", query: "spinnaker" },
    ...{ vector: centre, limit: 10, threshold: 0, ...PLAIN, progress: "", next: "the-cursor" },
    ...options,
  });
  if (reply.status !== "answered") throw new Error(reply.status);
  return { ...JSON.parse(new TextDecoder().decode(reply.json)), work: reply.work };
}

const keyOf = ({ chunk, file }: Json): string => chunk?.id ?? file.path;

const lastWritten = { mode: "keyword", vector: null, query: "mizzen" } as const;
await until("all files are found", async () => (await retrieve(lastWritten)).data.length === 1);

test("a retrieval finds chunks by their vectors, by the text of their files, and by both", async () => {
  const { data, page_info, total_matches } = await retrieve({});
  expect(data.map(keyOf).toSorted()).toEqual(
    [both.chunks[0], near.chunks[0], boats.chunks[0], boats.chunks[1]]
      .map((chunk) => chunk?.id as string)
      .concat("unchunked.md")
      .toSorted(),
  );
  expect(keyOf(data[0])).toBe(both.chunks[0]?.id as string);
  expect(data[0].match_type).toBe("hybrid");
  expect(page_info).toEqual({ self: "/self", first: null, next: null, prev: null });
  expect(total_matches).toBeGreaterThanOrEqual(4);
});

test("the keyword hit of a file is its chunk with the best passage, or the file if it has none", async () => {
  const { data, total_matches } = await retrieve({ mode: "keyword", vector: null });
  expect(data.map(keyOf).toSorted()).toEqual(
    [both.chunks[0]?.id, boats.chunks[1]?.id, "unchunked.md"].toSorted() as string[],
  );
  expect(total_matches).toBe(3);
  const file = data.find(({ chunk }: Json) => chunk === null);
  expect(file.file).toMatchObject({ path: "unchunked.md" });
  expect(file.title).toBe("Without chunks");
  expect(file.scores.semantic).toBeNull();
  expect(file.scores.keyword).toBeGreaterThan(0);
});

test("a retrieval by vector scores by the cosine and keeps to the threshold", async () => {
  const { data } = await retrieve({ mode: "semantic", query: null, threshold: 0.9 });
  expect(data.map(keyOf)).toEqual([near.chunks[0]?.id, both.chunks[0]?.id]);
  for (const { score, scores, match_type } of data) {
    expect(scores).toEqual({ semantic: score, keyword: null });
    expect(match_type).toBe("semantic");
  }
});

test("pages of a retrieval hold every hit once", async () => {
  const all = (await retrieve({})).data.map(keyOf);
  const paged: string[] = [];
  for (let progress = "", more = true; more; ) {
    const { data, work, page_info } = await retrieve({ limit: 2, progress });
    paged.push(...data.map(keyOf));
    ({ progress, more } = work);
    expect(page_info.next).toBe(more ? "the-cursor" : null);
  }
  expect(paged).toEqual(all);
});

test("a chunk without an embedding is found by its text, with the heading above it", async () => {
  for (const mode of ["keyword", "hybrid"] as const) {
    const { data } = await retrieve({ mode, query: "halyard", limit: 1 });
    expect(data.map(keyOf)).toEqual([unembedded.chunks[1]?.id]);
    expect(data[0]).toMatchObject({ match_type: "keyword", title: "Bare", heading: "Rigging" });
    expect(data[0].chunk.content).toBe(bare[1]?.[0] as string);
    const { text, matches } = data[0].highlight;
    expect(matches.map(([start, end]: [number, number]) => text.slice(start, end))).toEqual([
      "halyard",
    ]);
  }
});

test("a filter holds for what the text and what the vector finds", async () => {
  const filtered = derivedScope(scope, JSON.stringify({ path: { $in: ["bare.md", "boats.md"] } }));
  const { data } = await retrieve({ scope: filtered, query: "spinnaker halyard" });
  const paths: string[] = data.map(({ chunk }: Json) => chunk.file_path);
  expect(new Set(paths)).toEqual(new Set(["bare.md", "boats.md"]));
  expect(paths).toHaveLength(3);
});

test("a filter of chunks holds for those that are read from the database", async () => {
  const first = derivedScope(scope, JSON.stringify({ "metadata.part": 0 }));
  const { data } = await retrieve({ scope: first, mode: "keyword", query: "halyard" });
  expect(data.map(keyOf)).toEqual([unembedded.chunks[0]?.id]);
});

test("a hostile filter of chunks that are read from the database lets other requests have their turn", async () => {
  await sql`UPDATE chunks SET metadata = metadata || jsonb_build_object('long', repeat('a', 100000))
    WHERE id = ${unembedded.chunks[0]?.id as string}`;
  const globs = hostileGlobs(8).map((glob) => ({ "metadata.long": glob }));
  const filter = JSON.stringify({ $or: [...globs, { "metadata.part": 0 }] });
  let turns = 0;
  const others = setInterval(() => turns++, 0);
  const first = derivedScope(scope, filter);
  const { data } = await retrieve({ scope: first, mode: "keyword", query: "halyard" });
  clearInterval(others);
  expect(data.map(keyOf)).toEqual([unembedded.chunks[0]?.id]);
  expect(turns).toBeGreaterThan(20);
});

test("a file without a body is found by its title, again and again with the same answer", async () => {
  const find = async () => {
    const { data } = await retrieve({ mode: "keyword", query: "mizzen" });
    const [{ chunk, file }] = data as [Json];
    return [chunk, file];
  };
  const [chunk, file] = await find();
  expect([chunk, file.path]).toEqual([null, "mizzen.md"]);
  for (let i = 0; i < 3; i++) expect(await find()).toEqual([null, file]);
});
