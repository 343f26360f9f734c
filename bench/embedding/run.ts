/**
 * What embedding by a model within the service takes, and what it costs others, beside an endpoint.
 *
 *   bun bench/embedding/run.ts [--model FOLDER] [--batches 1,8,32,64] [--threads 1,2] [--texts 512] [--words 40]
 *                              [--files 10000] [--puts 20] [--rate 50] [--seconds 10]
 *
 * `--model` is the folder of a real model, as `models pull` writes it. Without it the model is the tiny one of the
 * tests, so that the figures are those of everything else. The benchmark prints texts per second by the size of
 * batches and the number of threads; the time from a PUT until the file is found by meaning, by the model and by an
 * endpoint on this machine that answers at once; and the latency of one user's retrievals alone and while another
 * user's files are being embedded. Clients and servers share the machine.
 */
import { projectEmbedders } from "../../src/embed/embedders/project-embedders.ts";
import { LocalModels } from "../../src/embed/models/local-models.ts";
import { addApiKey, addUser } from "../../support/accounts.ts";
import { startEmbeddingEndpoint, vectorOf } from "../../support/embedding-endpoint.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { writeModel } from "../../support/model-folder.ts";
import { randomNumbers } from "../../support/random.ts";
import { type BenchContext, runBenchmark } from "../harness/context.ts";
import { record, Sent } from "../harness/load/sent.ts";
import { inTurn, open } from "../harness/load/streams.ts";
import { cpuSeconds } from "../harness/process-usage.ts";
import { Api, keyedRequest } from "../harness/requests.ts";
import { quantile } from "../harness/statistics.ts";
import { type Output, secondsSince } from "../harness/table.ts";

export const OPTIONS = {
  batches: "1,8,32,64",
  threads: "1,2",
  texts: 512,
  words: 40,
  model: "",
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

/** One user of the service. */
class Client extends Api {
  async createProject(slug: string, embedder: string): Promise<void> {
    await this.call("POST", "/projects", { name: slug, slug, embedder });
  }

  async import(slug: string, texts: readonly string[]): Promise<void> {
    const records = texts.map((content, i) =>
      JSON.stringify({
        record: "file",
        path: `f${i}.md`,
        content: `${content} ${MARK}`,
        environments: ["production"],
      }),
    );
    const path = `/projects/${slug}/import`;
    await this.call("POST", path, `${records.join("\n")}\n`, "application/x-ndjson");
  }

  async found(slug: string, query: string, mode: string): Promise<number> {
    const body = { query, mode, limit: 1, threshold: 0 };
    const path = `/projects/${slug}/retrieve`;
    const response = await this.send("POST", path, body);
    // A question is refused while its model takes too long, as on a busy machine while it is loaded.
    if (response.status === 503) return 0;
    if (!response.ok) throw new Error(await response.text());
    const { data, total_matches: all } = (await response.json()) as Retrieved;
    return mode === "keyword" ? all : data.length;
  }

  async waiting(slug: string): Promise<number> {
    const path = `/projects/${slug}/index-state`;
    return (await this.call<{ embeddings_waiting: number }>("GET", path)).embeddings_waiting;
  }
}

interface Retrieved {
  readonly data: readonly unknown[];
  readonly total_matches: number;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(POLL_MS);
}

async function measureLag(client: Client, embedder: string, { puts }: Options) {
  const times: number[] = [];
  for (let i = 0; i < puts; i++) {
    const slug = `lag-${embedder}-${i}`;
    await client.createProject(slug, embedder);
    const started = performance.now();
    const text = `The old volcano ${i} of a river.`;
    await client.call("PUT", `/projects/${slug}/files/a.txt`, text, "text/plain");
    await until(async () => (await client.found(slug, `volcano ${i}`, "semantic")) > 0);
    times.push(performance.now() - started);
  }
  return { median: quantile(times, 0.5), most: quantile(times, 1) };
}

/** The latencies of one user's retrievals at a steady rate, from the moments when they were due. */
async function measureLatency({ url, key }: Client, slug: string, options: Options) {
  const { rate, seconds } = options;
  const requests = Array.from({ length: rate * seconds }, (_, i) => {
    const query = `${WORDS[i % WORDS.length]} ${i}`;
    const body = JSON.stringify({ query, mode: "hybrid", limit: 10, threshold: 0 });
    return keyedRequest({ url }, "POST", `/projects/${slug}/retrieve`, key, body);
  });
  const sent = Sent.of(await record(url, { ...open(requests, rate), seconds }, inTurn(requests)));
  const bad = sent.refused + sent.failed;
  return { p50: sent.quantile(0.5, "due"), p99: sent.quantile(0.99, "due"), bad };
}

export async function run(options: Options, { out, openDatabase, startServer }: BenchContext) {
  const folder = options.model || writeModel(temporaryFolder("model")).folder;
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
  await until(async () => (await quiet.waiting("small")) === 0);
  out.head("retrievals of one user", "p50 ms", "p99 ms", "not answered", "ratio");
  const beside = [];
  const measureAlone = async () => {
    const { p50, p99, bad } = await measureLatency(quiet, "small", options);
    out.row("alone", p50.toFixed(1), p99.toFixed(1), bad, "");
    return p99;
  };
  let alone = await measureAlone();
  for (const embedder of Object.keys(embedders)) {
    const slug = `busy-${embedder}`;
    await busy.createProject(slug, embedder);
    await busy.import(slug, textsOf(options, options.files, 3));
    // Only the embeddings are left to be made.
    await until(async () => (await busy.found(slug, MARK, "keyword")) >= options.files);
    const before = await busy.waiting(slug);
    const { p50, p99, bad } = await measureLatency(quiet, "small", options);
    const left = await busy.waiting(slug);
    await busy.send("DELETE", `/projects/${slug}`);
    // Machines differ from minute to minute, so what is compared is before and after.
    const after = await measureAlone();
    const ratio = p99 / ((alone + after) / 2);
    alone = after;
    const figures = [p50.toFixed(1), p99.toFixed(1), bad, ratio.toFixed(2)];
    out.row(`beside files by ${embedder}`, ...figures, `${before} waited, ${left} still do`);
    beside.push({ embedder, before, left, p50, p99, ratio });
  }
  await server.stop();
  return { speeds, lags, beside };
}

if (import.meta.main) await runBenchmark(OPTIONS, run);
