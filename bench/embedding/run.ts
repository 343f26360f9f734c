/**
 * What embedding by a model within the service takes, and what it costs others, beside an endpoint.
 *
 *   bun bench/embedding/run.ts [--batches 1,8,32,64] [--threads 1,2] [--texts 512] [--words 40] [--hidden 384]
 *                              [--layers 4] [--files 10000] [--puts 20] [--rate 50] [--seconds 10]
 *
 * The model has the shape of BERT and weights from a seed: by default half of the layers of a small real one. It
 * prints texts per second by the size of batches and the number of threads; the time from a PUT until the file is
 * found by meaning, by the model and by an endpoint on this machine that answers at once; and the latency of one
 * user's retrievals alone and while another user's files are being embedded. Clients and servers share the machine.
 */
import { projectEmbedders } from "../../src/import/embedders/project-embedders.ts";
import { LocalModels } from "../../src/models/local-models.ts";
import { addApiKey, addUser } from "../../support/accounts.ts";
import { startEmbeddingEndpoint, vectorOf } from "../../support/embedding-endpoint.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { randomNumbers } from "../../support/random.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { cpuSeconds } from "../harness/process-usage.ts";
import { quantile } from "../harness/statistics.ts";
import { type Output, secondsSince } from "../harness/table.ts";
import { writeModel } from "./model/model-folder.ts";

export const OPTIONS = {
  batches: "1,8,32,64",
  threads: "1,2",
  texts: 512,
  words: 40,
  hidden: 384,
  layers: 4,
  files: 10_000,
  puts: 20,
  rate: 50,
  seconds: 10,
};
type Options = typeof OPTIONS;

/** The processor time of a process is counted in ticks of this length. */
const TICK_SECONDS = 0.01;
const TIMEOUT_MS = 120_000;
const POLL_MS = 5;
const SMALL_FILES = 200;
/** A word of every file. */
const MARK = "letter";
const WORDS =
  "car doctor quick film buy garden tomato volcano engine hospital river mountain".split(" ");

function textsOf({ words }: Options, count: number, seed: number): string[] {
  const random = randomNumbers(seed);
  const word = () => WORDS[Math.floor(random() * WORDS.length)] as string;
  // Lengths differ, as those of chunks do.
  const length = () => Math.ceil(words * (0.25 + 1.5 * random()));
  return Array.from({ length: count }, () => Array.from({ length: length() }, word).join(" "));
}

const numbersOf = (list: string) => list.split(",").map(Number);

async function measureSpeed(folder: string, options: Options, out: Output) {
  const passages = textsOf(options, options.texts, 1).map((content) => ({ headings: [], content }));
  const [batches, threadCounts] = [numbersOf(options.batches), numbersOf(options.threads)];
  const columns = threadCounts.flatMap((n) => [`${n} threads, texts/s`, "per CPU second"]);
  out.head("texts per request", ...columns);
  const figures = [];
  for (const batch of batches) {
    const speeds: number[] = [];
    for (const threads of threadCounts) {
      const config = { name: "model", onnx: folder, batch, threads };
      const unset = { dimension: undefined, pooling: undefined, idleSeconds: undefined };
      const prefixes = { queryPrefix: undefined, documentPrefix: undefined };
      const models = await LocalModels.open([{ ...config, ...unset, ...prefixes }], {
        dataDir: folder,
        warn: (message) => {
          throw new Error(message);
        },
      });
      const embedder = projectEmbedders(models.embedders, models.start).get("model");
      if (embedder === undefined) throw new Error("there is no model");
      await embedder.embedQuery("first", TIMEOUT_MS);
      const pid = models.processes.get("model") as number;
      const [started, before] = [performance.now(), cpuSeconds(pid)];
      await embedder.embedPassages(passages, TIMEOUT_MS);
      const spent = Math.max(TICK_SECONDS, cpuSeconds(pid) - before);
      speeds.push(passages.length / secondsSince(started), passages.length / spent);
      await models.close();
    }
    out.row(batch, ...speeds.map((speed) => speed.toFixed(0)));
    figures.push({ batch, speeds });
  }
  return figures;
}

/** Sends requests of one user. */
class Client {
  constructor(
    private readonly url: URL,
    private readonly key: string,
  ) {}

  async send(method: string, path: string, body?: string, type = "application/json") {
    const headers = { "x-api-key": this.key, "content-type": type };
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    const ask = () => fetch(new URL(path, this.url), init);
    // The service closes connections that nobody has used for a while, also at the moment when one is used again.
    const response = await ask().catch(ask);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text.split("\n", 1)[0] as string);
  }

  async createProject(slug: string, embedder: string): Promise<void> {
    await this.send("POST", "/projects", JSON.stringify({ name: slug, slug, embedder }));
  }

  put(slug: string, path: string, text: string) {
    return this.send("PUT", `/projects/${slug}/files/${path}`, text, "text/plain");
  }

  async import(slug: string, texts: readonly string[]): Promise<void> {
    const records = texts.map((content, i) =>
      JSON.stringify({
        ...{ record: "file", path: `f${i}.md`, content: `${content} ${MARK}` },
        environments: ["production"],
      }),
    );
    const body = `${records.join("\n")}\n`;
    await this.send("POST", `/projects/${slug}/import`, body, "application/x-ndjson");
  }

  async retrieve(slug: string, query: string, mode = "hybrid"): Promise<number> {
    const question = JSON.stringify({ query, mode, limit: 10, threshold: 0 });
    return (await this.send("POST", `/projects/${slug}/retrieve`, question)).data.length;
  }

  async waiting(slug: string): Promise<number> {
    return (await this.send("GET", `/projects/${slug}/index-state`)).embeddings_waiting;
  }

  async untilEmbedded(slug: string): Promise<void> {
    while ((await this.waiting(slug)) > 0) await Bun.sleep(POLL_MS * 10);
  }

  /** Waits until the words of all files are found, so that only their embeddings are left to be made. */
  async untilIndexed(slug: string, files: number): Promise<void> {
    const path = `/projects/${slug}/retrieve`;
    const query = JSON.stringify({ query: MARK, mode: "keyword", limit: 1, threshold: 0 });
    for (;;) {
      const { total_matches: found } = await this.send("POST", path, query);
      if (found >= files) return;
      await Bun.sleep(POLL_MS * 10);
    }
  }
}

async function measureLag(client: Client, embedder: string, { puts }: Options) {
  const times: number[] = [];
  for (let i = 0; i < puts; i++) {
    const slug = `lag-${embedder}-${i}`;
    await client.createProject(slug, embedder);
    const started = performance.now();
    await client.put(slug, "a.txt", `The old volcano ${i} of a river.`);
    while ((await client.retrieve(slug, `volcano ${i}`, "semantic")) === 0) {
      await Bun.sleep(POLL_MS);
    }
    times.push(performance.now() - started);
  }
  return { median: quantile(times, 0.5), most: quantile(times, 1) };
}

/** The latencies of one user's retrievals at a steady rate, from the moments when they were due. */
async function measureLatency(client: Client, slug: string, { rate, seconds }: Options) {
  const times: number[] = [];
  const running: Promise<void>[] = [];
  const begun = performance.now();
  for (let i = 0; i < rate * seconds; i++) {
    const due = begun + (i * 1_000) / rate;
    await Bun.sleep(Math.max(0, due - performance.now()));
    const query = `${WORDS[i % WORDS.length]} ${i}`;
    running.push(client.retrieve(slug, query).then(() => void times.push(performance.now() - due)));
  }
  await Promise.all(running);
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

export async function run(options: Options, { out, openDatabase, startServer }: BenchContext) {
  const { folder } = writeModel(temporaryFolder("model"), {
    ...{ hidden: options.hidden, layers: options.layers, heads: 12, maxTokens: 512 },
  });
  const speeds = await measureSpeed(folder, options, out);
  const endpoint = startEmbeddingEndpoint();
  endpoint.embed = (text, dimension) => vectorOf(text, dimension).map(Math.abs);
  const embedders = {
    local: { onnx: folder },
    endpoint: { url: endpoint.url, model: "m", dimension: 768 },
  };
  const database = await openDatabase();
  const env = { ...database.env, EMBEDDERS: JSON.stringify(embedders) };
  const server = await startServer(env);
  const clientOf = async () => {
    const user = await addUser(database.sql);
    return new Client(server.url, (await addApiKey(database.sql, user)).key);
  };
  const [quiet, busy] = [await clientOf(), await clientOf()];
  out.head("embedder", "PUT to found, median ms", "most");
  const lags = [];
  for (const embedder of Object.keys(embedders)) {
    const lag = await measureLag(quiet, embedder, options);
    out.row(embedder, lag.median.toFixed(0), lag.most.toFixed(0));
    lags.push(lag);
  }
  await quiet.createProject("small", "hashing");
  await quiet.import("small", textsOf(options, SMALL_FILES, 2));
  await quiet.untilEmbedded("small");
  out.head("retrievals of one user", "p50 ms", "p99 ms", "ratio");
  const beside = [];
  const measureAlone = async () => {
    const { p50, p99 } = await measureLatency(quiet, "small", options);
    out.row("alone", p50.toFixed(1), p99.toFixed(1), "");
    return p99;
  };
  let alone = await measureAlone();
  for (const embedder of Object.keys(embedders)) {
    const slug = `busy-${embedder}`;
    await busy.createProject(slug, embedder);
    await busy.import(slug, textsOf(options, options.files, 3));
    await busy.untilIndexed(slug, options.files);
    const before = await busy.waiting(slug);
    const { p50, p99 } = await measureLatency(quiet, "small", options);
    const left = await busy.waiting(slug);
    await busy.send("DELETE", `/projects/${slug}`).catch(() => {});
    // Machines differ from minute to minute, so what is compared is before and after.
    const after = await measureAlone();
    const ratio = p99 / ((alone + after) / 2);
    alone = after;
    const figures = [p50.toFixed(1), p99.toFixed(1), ratio.toFixed(2)];
    out.row(`beside files by ${embedder}`, ...figures, `${before} waited, ${left} still do`);
    beside.push({ embedder, before, left, p50, p99, ratio });
  }
  await server.stop();
  return { speeds, lags, beside };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
