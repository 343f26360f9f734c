import { Command, InvalidArgumentError, Option } from "commander";
import { count, duration, url } from "../../src/cli/options.ts";
import { DIMENSIONS } from "../../src/domain/limits.ts";
import { FORMS, type Form } from "../harness/requests.ts";
import type { ServiceChoice } from "./service.ts";

export interface LoadOptions extends ServiceChoice {
  readonly start?: boolean;
  readonly data?: string;
  readonly generate?: string;
  readonly vectors: number;
  readonly dimension?: number;
  readonly column?: string;
  readonly queries?: string;
  readonly queryCount: number;
  readonly truth?: string;
  readonly recall: boolean;
  readonly recallQueries: number;
  readonly clients: number;
  readonly rate?: number;
  readonly sweep?: readonly number[] | "auto";
  readonly limit: number;
  readonly limits?: readonly number[];
  readonly duration: number;
  readonly warmup: number;
  readonly timeout: number;
  readonly connections: number;
  /** Seconds; false for `--no-wait`. */
  readonly wait: number | false;
  readonly body: Form;
  readonly json?: boolean;
  readonly report?: string;
}

function positive(value: string): number {
  const number = Number(value);
  if (!(number > 0) || !Number.isFinite(number)) {
    throw new InvalidArgumentError("It must be a number above 0.");
  }
  return number;
}

const rates = (value: string): number[] => value.split(",").map(positive);
const sweep = (value: string) => (value === "auto" ? ("auto" as const) : rates(value));
const counts = (value: string): number[] => value.split(",").map(count);

const HELP = `
Queries are, in this order: --queries; held-out vectors with --generate; rows of --data; embeddings of
the project's own chunks, which the service returns to callers with the permission chunks.read.
Recall is compared, in this order, with --truth; with brute force over --data or --generate; with the
service's own exact mode (effort=exact). A query that is itself a chunk finds itself, which is easier
than a user's question.

Files are .f32 and .f16 (little-endian, with --dimension), .fvecs, .npy or .parquet; the truth is .ivecs
with row numbers of --data. Vectors are filled up with zeros to the next of ${DIMENSIONS.join(", ")}
elements, which changes no cosine. --data and --generate are imported over HTTP first; the key needs
projects.import and the role owner or editor, and projects.create where the project does not exist.

Latency counts from the time at which a request was meant to start. With --rate it therefore includes
the time that requests wait while the service stalls, which a closed loop hides. Timers have a
resolution of 1 ms.

Examples:
  ./tessera bench load --start --generate text --vectors 20000 --report report.html
  ./tessera bench load --project handbook --key tsr_... --clients 16 --duration 30s
  ./tessera bench load --project handbook --rate 500 --duration 1m --json
  ./tessera bench load --project sift --data base.fvecs --queries query.fvecs --truth gt.ivecs --sweep auto

The same without ./tessera: bun bench/load/run.ts --help
`;

/** The options that choose a running service, and vectors to search for there. */
export function addTarget(command: Command): Command {
  return command
    .option("--url <url>", "address of the service; default: BASE_URL, else HOST and PORT", url)
    .option("--project <slug>", "the project to search", "bench")
    .option("--environment <name>", "the environment to search", "production")
    .option("--release <name>", "search this release instead")
    .option("--key <key>", "API key; default: TESSERA_API_KEY")
    .option("--generate <kind>", "generate data: clusters, uniform, duplicates, text or sparse")
    .option(
      "--dimension <n>",
      "elements per vector, for --generate, .f32, .f16 and own chunks",
      count,
    )
    .option("--column <name>", "column of a Parquet file; default: emb, embedding or vector")
    .option("--queries <file>", "search for these vectors; default: the project's own chunks")
    .option("--query-count <n>", "number of queries that are drawn or generated", count, 500)
    .option("--limit <n>", "results per search", count, 10);
}

/** The command line of the load tester, without its action. */
export function loadCommand(): Command {
  const command = new Command("load")
    .usage("[options]")
    .description("Load a running service with vector searches, from a process of its own.")
    .option("--start", "start a service with an empty database for this run, and stop it after");
  addTarget(command)
    .option("--data <file>", "import these vectors first")
    .option("--vectors <n>", "number of generated vectors", count, 20_000)
    .option("--truth <file>", "true nearest rows of --data per query, as .ivecs")
    .option("--recall-queries <n>", "number of queries that recall is measured on", count, 200)
    .option("--no-recall", "do not measure recall");
  return addLoadOptions(command).addHelpText("after", HELP);
}

function addLoadOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--clients <n>", "closed loop with this many clients")
        .argParser(count)
        .default(16)
        .conflicts("rate"),
    )
    .option("--rate <r>", "open loop with this many requests per second", positive)
    .option("--sweep <rates>", "open loops at these rates, or auto: shares of the capacity", sweep)
    .option("--limits <list>", "in addition, a closed loop at each of these limits", counts)
    .addOption(duration("--duration <duration>", "length of each measurement", "20s"))
    .addOption(duration("--warmup <duration>", "what comes before it and is not counted", "3s"))
    .addOption(duration("--timeout <duration>", "time after which a request is given up", "10s"))
    .option("--connections <n>", "most requests under way at once in an open loop", count, 1_000)
    .addOption(duration("--wait <duration>", "how long to wait for a complete index", "30m"))
    .option("--no-wait", "measure while the index is still being built")
    .addOption(
      new Option("--body <form>", "how bodies have the vector").choices(FORMS).default("array"),
    )
    .option("--json", "print the result as JSON instead of a table")
    .option("--report <file>", "write the result as one HTML page with plots");
}
