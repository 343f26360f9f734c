/**
 * Cuts the power of a service at many random moments: `npm run test:power-cuts -- --cuts 500`.
 *
 * A service with an empty disk is recorded while clients import, write, release and delete. Then what it wrote
 * is replayed to random moments, without what was not synced by then: torn by page, or under no name. Each time
 * everything that was acknowledged has to be there.
 */
import { parseArgs } from "node:util";
import { runProgram } from "../support/processes/run-program.ts";
import { SEED } from "../support/seed.ts";
import { cutPower, unexplained } from "../test/long/power-cuts/cuts.ts";
import { record } from "../test/long/power-cuts/recording.ts";

const USAGE = `usage: npm run test:power-cuts -- [options]

  --cuts N      moments at which the power is cut (default 500)
  --services N  of them, so many are checked by starting the service (default 25); the others by PostgreSQL
  --changes N   changes of each of three clients, in each of three sessions (default 40)
  --seed N      of the changes and the moments (default: random)
  --help
`;
const SESSIONS = 3;
const PROGRESS_CUTS = 25;

const { values } = parseArgs({
  options: {
    cuts: { type: "string", default: "500" },
    services: { type: "string", default: "25" },
    changes: { type: "string", default: "40" },
    seed: { type: "string", default: String(SEED) },
    help: { type: "boolean", default: false },
  },
});

async function run(): Promise<void> {
  const [cuts, services, seed] = [values.cuts, values.services, values.seed].map(Number) as [
    number,
    number,
    number,
  ];
  process.stdout.write(`seed ${seed}, ${cuts} cuts\n`);
  const recording = await record(seed, SESSIONS, Number(values.changes));
  const { count } = recording.customers;
  process.stdout.write(`recorded ${count} changes in ${recording.events.length} events\n`);
  const missing = unexplained(recording);
  if (missing.length > 0) throw new Error(`the recording lacks ${missing.join(", ")}`);
  const report = await cutPower(recording, {
    ...{ seed, cuts, databases: 1, services: Math.ceil(cuts / Math.max(services, 1)) },
    onCut(done, failures) {
      if (done % PROGRESS_CUTS === 0) process.stdout.write(`${done} cuts, ${failures} failures\n`);
    },
    onFailure: (message) => process.stdout.write(`failed: ${message}\n`),
  });
  process.stdout.write(
    `seed ${seed}: ${report.cuts} cuts, ${report.lossy} of them with losses, ${report.torn} files torn, ` +
      `${report.databases} databases and ${report.services} services started, ${report.failures.length} failures\n`,
  );
  if (report.failures.length > 0) throw new Error("power cuts have lost something");
}

if (values.help) process.stdout.write(USAGE);
else await runProgram(run);
