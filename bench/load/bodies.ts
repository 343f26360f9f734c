/**
 * Search bodies as files, for wrk, oha and k6.
 *
 *   bun bench/load/bodies.ts [options]
 *
 * `--help` lists the options.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import type { BenchContext } from "../harness/context.ts";
import { jsonBody } from "../harness/requests.ts";
import { padded, rowOf } from "../harness/vector-files.ts";
import { findQueries, readData } from "./inputs.ts";
import { addTarget } from "./options.ts";
import { runCommandLine } from "./program.ts";
import { openService, type ServiceChoice } from "./service.ts";

interface BodiesOptions extends ServiceChoice {
  readonly out: string;
  readonly queries?: string;
  readonly generate?: string;
  readonly dimension?: number;
  readonly column?: string;
  readonly queryCount: number;
  readonly limit: number;
  readonly body: "array" | "base64";
}

const HELP = `
Writes bodies.ndjson, one search body per line, and prints commands that send them. The key is not
written: the commands read it from TESSERA_API_KEY.

Examples:
  ./tessera bench load/bodies --project handbook --out bodies
  ./tessera bench load/bodies --project handbook --generate text --dimension 768 --body base64

The same without ./tessera: bun bench/load/bodies.ts --help
`;

export function bodiesCommand(): Command {
  const command = new Command("bodies")
    .usage("[options]")
    .description("Write search bodies as files, for wrk, oha and k6.")
    .option("--out <folder>", "where to write them", "bodies");
  return addTarget(command)
    .addOption(
      new Option("--body <form>", "how bodies have the vector")
        .choices(["array", "base64"])
        .default("array"),
    )
    .addHelpText("after", HELP);
}

/** Commands that send the bodies, as they are typed at the root of the repository. */
function commands(address: string, file: string): string {
  return `wrote ${file}

  export TESSERA_API_KEY=...
  BODIES=${file} wrk -t2 -c16 -d30s --latency -s bench/wrk/search.lua '${address}'
  oha -z 30s -q 500 --latency-correction -m POST -T application/json \\
    -H "X-API-Key: $TESSERA_API_KEY" -Z ${file} '${address}'
  k6 run -e URL='${address}' -e KEY=$TESSERA_API_KEY -e BODIES=$PWD/${file} -e RATE=500 bench/k6/search.js
`;
}

export async function writeBodies(options: BodiesOptions, { out }: BenchContext): Promise<void> {
  const service = openService(options);
  // Generated queries are what a generated data set holds out; the data itself is not needed.
  const source = await readData({ ...options, vectors: 1 });
  const { queries: found } = await findQueries(service, options, source);
  const queries = padded(found);
  const lines = Array.from({ length: queries.rows }, (_, i) => {
    return `${jsonBody(rowOf(queries, i), options.limit, options.body)}\n`;
  });
  mkdirSync(options.out, { recursive: true });
  const file = join(options.out, "bodies.ndjson");
  await Bun.write(file, lines.join(""));
  out.write(commands(`${service.url.origin}${service.searchPath}`, file));
}

if (import.meta.main) await runCommandLine(bodiesCommand(), writeBodies);
