/**
 * Checks histories of concurrent clients for as long as wanted: `npm run test:histories -- --operations 100000`.
 *
 * Clients change and read the same environments through two services, while these, PostgreSQL and Redis are killed
 * and stalled. For each environment some order of all operations has to explain every answer, and searches have to
 * see the change that they name. A history without such an order is shrunk.
 */
import { parseArgs } from "node:util";
import { runProgram } from "../support/processes/run-program.ts";
import { SEED } from "../support/seed.ts";
import { quantile } from "../support/statistics.ts";
import { runHistories } from "../test/model/histories/run.ts";
import type { FaultName } from "../test/model/world/faults.ts";
import { Tally } from "../test/model/world/requests.ts";
import { World } from "../test/model/world/world.ts";

const USAGE = `usage: npm run test:histories -- [options]

  --operations N   operations in all (default 100000)
  --faults N       faults in about a thousand operations (default 3)
  --within N       searches name no change; they may show a state that is N milliseconds old, and no older one
                   (nothing is promised of searches during faults, so with --faults 0)
  --seed N         of the first run; the next ones count up (default: random)
  --help
`;
const RUN = { places: 12, clients: 4, operations: 40 };

const { values } = parseArgs({
  options: {
    operations: { type: "string", default: "100000" },
    faults: { type: "string", default: "3" },
    within: { type: "string" },
    seed: { type: "string", default: String(SEED) },
    help: { type: "boolean", default: false },
  },
});

async function run(): Promise<void> {
  const wanted = Number(values.operations);
  const [seed, faults] = [Number(values.seed), Number(values.faults)];
  process.stdout.write(`seed ${seed}, ${wanted} operations\n`);
  const withinMs = values.within === undefined ? undefined : Number(values.within);
  const world = await World.start();
  const [tally, counts] = [new Tally(), new Map<FaultName, number>()];
  const begun = performance.now();
  const delays: number[] = [];
  let [runs, operations, unanswered, undecided] = [0, 0, 0, 0];
  while (operations < wanted) {
    const report = await runHistories(world, tally, counts, {
      ...RUN,
      seed: seed + runs,
      faults,
      withinMs,
    });
    runs++;
    operations += report.operations;
    unanswered += report.unanswered;
    undecided += report.undecided;
    for (const delay of report.delays) delays.push(delay);
    const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
    const caused = [...counts.values()].reduce((sum, times) => sum + times, 0);
    process.stdout.write(
      `${operations} operations, ${unanswered} without an answer, ${caused} faults, ${runs} runs, ${seconds} s\n`,
    );
  }
  const at = (share: number) => `${quantile(delays, share).toFixed(0)} ms`;
  process.stdout.write(`seed ${seed}: ${runs} runs clean, ${undecided} histories undecided\n`);
  if (delays.length > 0) {
    process.stdout.write(
      `${delays.length} reads saw the change that they named, ${at(0.5)} after its answer in half of all cases, ` +
        `${at(0.99)} in 99 of 100, ${at(1)} at most\n`,
    );
  }
  for (const [name, times] of counts) process.stdout.write(`  ${times} ${name}\n`);
}

if (values.help) process.stdout.write(USAGE);
else await runProgram(run);
