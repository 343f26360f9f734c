/**
 * What floods of each kind of request cost another user: one user sends searches, or retrievals, at a modest rate, while
 * another sends requests of one kind over many connections that never pause.
 *
 *   bun bench/overload/floods.ts [--chunks 20000] [--dimension 768] [--clients 256] [--rate 100]
 *                                [--seconds 20] [--floods "search;files"] [--modest retrieve]
 *
 * The real server on an embedded PostgreSQL; both users' clients and the server share the machine. The modest
 * user's clients are a process of their own, so what a flood's clients wait for is not counted.
 */
import type { Sql } from "../../src/db/client.ts";
import { addApiKey, addMember, addProject, addUser } from "../../support/accounts.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { Load } from "../harness/load/load.ts";
import type { Sent } from "../harness/load/sent.ts";
import { closed, open } from "../harness/load/streams.ts";
import { keyedRequest, rawRequest } from "../harness/requests.ts";
import type { BenchServer } from "../harness/server.ts";
import {
  makeWorld,
  type Owned,
  SLUG,
  searchPath,
  untilGraphed,
  type World,
  writeWorld,
} from "../search/world.ts";

export const OPTIONS = {
  chunks: 20_000,
  dimension: 768,
  clients: 256,
  rate: 100,
  seconds: 20,
  floods: "",
  modest: "search",
};
type Options = typeof OPTIONS;

const PAYLOADS = 200;
const CONVERSATION_ID = crypto.randomUUID();

type Payloads = (server: BenchServer, world: World, apiKey: string) => Uint8Array[];

const numbered = <T>(make: (number: number) => T) =>
  Array.from({ length: PAYLOADS }, (_, i) => make(i));
const vectorOf = ({ queries }: World, number: number) =>
  Buffer.from((queries[number] as Float32Array).buffer).toString("base64");
const project = `/projects/${SLUG}`;

const searches =
  (more: (number: number) => object, query = ""): Payloads =>
  (server, world, key) =>
    numbered((i) => {
      const body = {
        vector: vectorOf(world, i),
        dimension: world.dimension,
        threshold: 0,
        ...more(i),
      };
      return keyedRequest(server, "POST", searchPath(1) + query, key, JSON.stringify(body));
    });

const posts =
  (path: string, body: (number: number, world: World) => object): Payloads =>
  (server, world, key) =>
    numbered((i) => keyedRequest(server, "POST", path, key, JSON.stringify(body(i, world))));

const gets =
  (path: (number: number) => string): Payloads =>
  (server, _world, key) =>
    numbered((i) => rawRequest(server, "GET", path(i), { "x-api-key": key }));

/** Each writes another content than the one before, so that each is a change that is indexed. */
const writes: Payloads = (server, _world, key) =>
  numbered((i) => {
    const path = `${project}/files/flood-${i % 20}.md`;
    return keyedRequest(server, "PUT", path, key, `# Written ${i}`, "text/markdown");
  });

/** Large files, each with another content than the one before. */
const largeWrites: Payloads = (server, _world, key) =>
  Array.from({ length: 8 }, (_, i) => {
    const text = `# Large ${i}\n\n${`Sentence ${i} of a long text. `.repeat(30_000)}`;
    const path = `${project}/files/large.md`;
    return keyedRequest(server, "PUT", path, key, text.slice(0, 900_000), "text/markdown");
  });

const imports: Payloads = (server, _world, key) =>
  numbered((i) => {
    const file = (number: number) => ({
      record: "file",
      path: `import/${number}.md`,
      content: `# Imported ${i}`,
      environments: ["production"],
    });
    const lines = Array.from({ length: 20 }, (_, number) => JSON.stringify(file(number)));
    const path = `${project}/import`;
    return keyedRequest(server, "POST", path, key, lines.join("\n"), "application/x-ndjson");
  });

/** What takes long to check in a body of nearly 1 MiB. */
const LONG_OBJECT = Object.fromEntries(Array.from({ length: 48_000 }, (_, i) => [`field-${i}`, i]));
const LONG_LIST = Array.from({ length: 1_000 }, (_, i) => `value-${i}`);

const FACETS = [
  "path",
  "metadata.headings",
  ...["a", "b", "c"].map((name) => `frontmatter.${name}`),
];

/** One body is enough, because nobody remembers what is refused. */
const large =
  (path: string, body: (world: World) => object): Payloads =>
  (server, world, key) => [keyedRequest(server, "POST", path, key, JSON.stringify(body(world)))];

/** What the modest user sends. */
const MODEST: Readonly<Record<string, Payloads>> = {
  search: searches(() => ({})),
  retrieve: posts(`${project}/retrieve`, (i, world) => ({
    query: `chunk ${i} lorem`,
    vector: vectorOf(world, i),
    dimension: world.dimension,
  })),
};

const FLOODS: Readonly<Record<string, Payloads>> = {
  search: searches(() => ({})),
  "search, 100 results": searches(() => ({ limit: 100 })),
  "search, exact": searches(() => ({}), "?effort=exact"),
  "search, new filters": searches((i) => ({
    filter: { path: { $glob: `**/file-*${i}*${Date.now() % 1_000}*` } },
  })),
  "lookup, words": posts(`${project}/knowledge/lookup`, (i) => ({
    query: `chunk lorem ipsum ${i}`,
    limit: 12,
  })),
  "lookup, prefix": posts(`${project}/knowledge/lookup`, (i) => ({
    query: `${i % 10}`,
    limit: 12,
  })),
  "lookup, 500 characters": posts(`${project}/knowledge/lookup`, (i) => ({
    query: Array.from({ length: 80 }, (_, j) => (i * 97 + j * 31) % 20_000)
      .join(" ")
      .slice(0, 500),
    limit: 12,
  })),
  "retrieve, hybrid": posts(`${project}/retrieve`, (i, world) => ({
    query: `chunk ${i} lorem`,
    vector: vectorOf(world, i),
    dimension: world.dimension,
    limit: 100,
  })),
  "lookup, new lists of 1,000": posts(`${project}/knowledge/lookup`, (i) => ({
    filter: { path: { $in: LONG_LIST.map((value) => `${value}-${i}-${Date.now()}`) } },
  })),
  "retrieve, facets": posts(`${project}/retrieve`, (i) => ({
    query: `chunk ${i} lorem`,
    mode: "keyword",
    limit: 1,
    facets: FACETS,
  })),
  fields: gets(() => `${project}/fields`),
  chunks: gets(() => `${project}/chunks?limit=100`),
  files: gets(() => `${project}/files?limit=100`),
  "a file": gets((i) => `${project}/files/${encodeURIComponent(`docs/file-${i}.md`)}`),
  "compare itself": gets(
    () => `${project}/compare?from_environment=production&to_environment=production`,
  ),
  "index state": gets(() => `${project}/index-state`),
  projects: gets(() => "/projects?limit=1"),
  "projects, long": gets(() => "/projects?limit=100"),
  "a long conversation": gets(() => `/conversations/${CONVERSATION_ID}/tree`),
  "writes of files": writes,
  "writes of 900 kB": largeWrites,
  "copies of a template": posts("/projects", (i) => ({
    name: "Copy",
    slug: `copy-${Date.now()}-${i}`,
    templateSlug: SLUG,
  })),
  imports,
  "searches of 1 MB": large(searchPath(1), () => LONG_OBJECT),
  "filters of 1 MB": large(`${project}/retrieve`, (world) => ({
    vector: vectorOf(world, 0),
    dimension: world.dimension,
    filter: { $or: Array.from({ length: 60 }, () => ({ lang: { $in: LONG_LIST } })) },
  })),
  "tool calls of 1 MB": large("/mcp", () => ({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "lookup", arguments: LONG_OBJECT },
  })),
  "unknown paths": gets((i) => `/nothing/${i}`),
  metrics: gets(() => "/metrics"),
  readiness: gets(() => "/readyz"),
  console: gets(() => "/console"),
  openapi: gets(() => "/docs/json"),
};

/** Gives the project's owner what takes long to read: projects and messages whose texts are long. */
async function writeLongTexts(sql: Sql, { project: { id: projectId }, userId }: Owned) {
  for (let i = 0; i < 20; i++) {
    const { id } = await addProject(sql, userId);
    await sql`
      UPDATE projects SET config = jsonb_build_object('text', repeat('x', 800000)) WHERE id = ${id}`;
  }
  await sql`
    INSERT INTO conversations (id, project_id, created_by)
    VALUES (${CONVERSATION_ID}, ${projectId}, ${userId})`;
  await sql`
    INSERT INTO messages (id, conversation_id, seq, role, parts)
    SELECT gen_random_uuid(), ${CONVERSATION_ID}, i, 'user',
      json_build_array(json_build_object('type', 'text', 'text', repeat('x', 30000)))
    FROM generate_series(1, 500) i`;
}

/** The floods that are asked for, separated by semicolons, or all. */
function floodsOf({ floods }: Options): string[] {
  const names = Object.keys(FLOODS);
  if (floods === "") return names;
  const chosen = floods.split(";");
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new Error(`there is no flood "${unknown}"; there are "${names.join(";")}"`);
  }
  return chosen;
}

export async function run(options: Options, { out, openDatabase, startServer }: BenchContext) {
  const chosen = floodsOf(options);
  const { env, sql } = await openDatabase();
  const made = makeWorld(options.chunks, PAYLOADS, options.dimension);
  const world = await writeWorld(sql, made);
  await writeLongTexts(sql, world);
  const userId = await addUser(sql);
  await addMember(sql, userId, world.project, "member");
  const { key } = await addApiKey(sql, userId);
  const server = await startServer({ ...env, LOG_LEVEL: "fatal" });
  await untilGraphed(sql, world.chunks);
  const [flood, modest] = [new Load(), new Load({ first: true })];
  const asked = MODEST[options.modest];
  if (asked === undefined) throw new Error(`--modest is one of ${Object.keys(MODEST).join(", ")}`);
  const polite = open(asked(server, world, key), options.rate);
  out.head(
    "flood",
    "answered/s",
    "refused/s",
    "other",
    "modest p50, ms",
    "p99, ms",
    "max, ms",
    "refused",
    "failed",
  );
  const figures = [];
  for (const name of ["none", ...chosen]) {
    const payloads = FLOODS[name]?.(server, world, world.apiKey);
    const floods = payloads === undefined ? [] : [closed(payloads, options.clients)];
    const [[result], [flooded]] = (await Promise.all([
      modest.run(server.url, options.seconds, [polite]),
      flood.run(server.url, options.seconds, floods),
    ])) as [[Sent], [Sent?]];
    const perSecond = (count: number | undefined) => ((count ?? 0) / options.seconds).toFixed(0);
    const at = (share: number) => (result.answered === 0 ? "-" : result.quantile(share).toFixed(1));
    out.row(
      name,
      perSecond(flooded?.answered),
      perSecond(flooded?.refused),
      perSecond(flooded?.failed),
      at(0.5),
      at(0.99),
      at(1),
      result.refused,
      result.failed,
    );
    figures.push({ name, result, flooded });
  }
  await server.stop();
  return figures;
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
