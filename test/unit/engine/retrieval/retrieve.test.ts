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

const passages = ["# Bare\n\nNo vector at all.", "## Rigging\n\nA kite and its halyard."];
const written = passages.map((content, i) => {
  return { id: crypto.randomUUID(), content, vector: nearVector(centre, 1, i) };
});
const unembedded = await writeVersion(sql, project, "bare.md", written);
await sql`UPDATE chunks SET embedding = NULL, dimension = NULL,
  metadata = jsonb_build_object('part', index, 'headings',
    jsonb_build_array(regexp_replace(split_part(content, E'\n', 1), '^#+ ', '')))
  WHERE file_version_id = ${unembedded.id}`;
await attach(sql, project, environment.id, [unembedded]);
await publishTexts(sql, project, environment, { "mizzen.md": "---\ntitle: Mizzen\n---\n" });

const scope: Scope = {
  ...{ tenant: user, projectId: project.id, id: environment.id },
  ...{ kind: "environment", frozen: false },
};

async function retrieve(
  options: Partial<RetrieveRequest> & { readonly query: string },
): Promise<Json> {
  const reply = await engine.retrieve({
    ...{ kind: "retrieve", scope, selfPath: "/self", mode: "hybrid", vector: centre },
    ...{ limit: 10, threshold: 0, ...PLAIN, progress: "", next: "" },
    ...options,
  });
  if (reply.status !== "answered") throw new Error(reply.status);
  return JSON.parse(new TextDecoder().decode(reply.json));
}

const idOf = ({ chunk }: Json): string => chunk?.id;

const lastWritten = { mode: "keyword", vector: null, query: "mizzen" } as const;
await until("all files are found", async () => (await retrieve(lastWritten)).data.length === 1);

test("a chunk without an embedding is found by its text, with the heading above it", async () => {
  for (const mode of ["keyword", "hybrid"] as const) {
    const { data } = await retrieve({ mode, query: "halyard", limit: 1 });
    expect(data.map(idOf)).toEqual([unembedded.chunks[1]?.id]);
    expect(data[0]).toMatchObject({ match_type: "keyword", title: "Bare", heading: "Rigging" });
    expect(data[0].chunk.content).toBe(passages[1] as string);
    const { text, matches } = data[0].highlight;
    expect(matches.map(([start, end]: [number, number]) => text.slice(start, end))).toEqual([
      "halyard",
    ]);
  }
});

test("a filter of chunks holds for those that are read from the database", async () => {
  const first = derivedScope(scope, JSON.stringify({ "metadata.part": 0 }));
  const { data } = await retrieve({ scope: first, mode: "keyword", query: "halyard" });
  expect(data.map(idOf)).toEqual([unembedded.chunks[0]?.id]);
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
