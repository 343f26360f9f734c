/**
 * Runs the model-based test for as long as wanted: `npm run test:model -- --operations 100000`.
 *
 * Clients send random commands to two services that share PostgreSQL and Redis, while processes are
 * killed and stalled and disks fill up, and every answer is compared with a simple model. It is done
 * in runs of some hundred operations, each with new tenants. A run that fails is shrunk; its seed and
 * path repeat it.
 */
import { parseArgs } from "node:util";
import { runProgram } from "../support/processes/run-program.ts";
import { SEED } from "../support/seed.ts";
import { runModel } from "../test/model/run.ts";
import type { FaultName } from "../test/model/world/faults.ts";
import { Tally } from "../test/model/world/requests.ts";
import { World } from "../test/model/world/world.ts";

const USAGE = `usage: npm run test:model -- [options]

  --operations N     requests and imports to send (default 100000)
  --clients N        clients at a time, each with a tenant of its own (default 8)
  --commands N       at most so many commands per client and run (default 80)
  --seed N           of the first run; the next ones count up (default: random)
  --path P           with --seed and the same --clients and --commands, repeats a shrunk run
  --no-faults        kill, stall and fill nothing
  --shrink SECONDS   how long a failure is shrunk (default 600)
  --help
`;
/** Faults in about a hundred commands. */
const FAULT_WEIGHT = 2;
const PROGRESS_MS = 10_000;

const { values } = parseArgs({
  options: {
    operations: { type: "string", default: "100000" },
    clients: { type: "string", default: "8" },
    commands: { type: "string", default: "80" },
    seed: { type: "string", default: String(SEED) },
    path: { type: "string" },
    "no-faults": { type: "boolean", default: false },
    shrink: { type: "string", default: "600" },
    help: { type: "boolean", default: false },
  },
});

function count(name: "operations" | "clients" | "commands" | "seed" | "shrink"): number {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  process.stderr.write(`--${name} needs a whole number\n${USAGE}`);
  process.exit(2);
}

const table = (counts: ReadonlyMap<string, number>) =>
  [...counts].sort(([, a], [, b]) => b - a).map(([name, times]) => `  ${times} ${name}\n`);

async function run(): Promise<void> {
  const [operations, firstSeed] = [count("operations"), count("seed")];
  const options = {
    ...{
      clients: count("clients"),
      commands: count("commands"),
      shrinkMs: count("shrink") * 1_000,
    },
    onFailure: (message: string) => void process.stdout.write(`failed: ${message}\n`),
    ...{
      faultWeight: values["no-faults"] ? 0 : FAULT_WEIGHT,
      ...(values.path ? { path: values.path } : {}),
    },
  };
  process.stdout.write(`seed ${firstSeed}, ${operations} operations, ${options.clients} clients\n`);
  const world = await World.start();
  const tally = new Tally();
  const faults = new Map<FaultName, number>();
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1_000;
  let runs = 0;
  const progress = setInterval(() => {
    const speed = (tally.operations / seconds()).toFixed(0);
    const caused = [...faults.values()].reduce((sum, times) => sum + times, 0);
    process.stdout.write(
      `${tally.operations} operations, ${speed}/s, ${runs} runs, ${caused} faults\n`,
    );
  }, PROGRESS_MS);
  try {
    do {
      await runModel(world, tally, faults, { ...options, seed: firstSeed + runs });
      runs++;
    } while (tally.operations < operations && values.path === undefined);
  } finally {
    clearInterval(progress);
    for (const [name, counts] of Object.entries({ ...tally.tables, faults })) {
      process.stdout.write(`${name}\n${table(counts).join("")}`);
    }
    process.stdout.write(
      `seed ${firstSeed}, ${runs} runs clean, ${tally.operations} operations in ${seconds().toFixed(0)} s\n`,
    );
  }
}

if (values.help) process.stdout.write(USAGE);
else await runProgram(run);
