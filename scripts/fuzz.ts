/**
 * Sends random requests to every operation of the OpenAPI document for as long as wanted:
 * `npm run test:fuzz -- --seconds 600`. Parameters, headers and bodies are valid or hostile. A request
 * whose answer is not as documented is made as small as possible; the seed repeats it.
 */
import { parseArgs } from "node:util";
import { runProgram } from "../support/processes/run-program.ts";
import { SEED } from "../support/seed.ts";
import { operationsOf } from "../test/fuzz/exchanges.ts";
import { fuzzOperation, type Statuses } from "../test/fuzz/fuzz.ts";
import { fuzzParser, PARSERS } from "../test/fuzz/parsers.ts";
import { startTarget } from "../test/fuzz/target.ts";

const USAGE = `usage: npm run test:fuzz -- [options]

  --seconds N        how long (default 600)
  --seed N           of the first round; the next ones count up (default: random)
  --operation ID     only this operation
  --parser NAME      a parser instead, with inputs of every kind: ${Object.keys(PARSERS).join(", ")}
  --help
`;
const REQUESTS_PER_ROUND = 200;
/** Requests use up what they act on, so another service takes over after so many rounds. */
const ROUNDS_PER_TARGET = 10;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "600" },
    seed: { type: "string", default: String(SEED) },
    operation: { type: "string" },
    parser: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

function print(statuses: Statuses): void {
  for (const [id, counts] of statuses) {
    const text = [...counts]
      .sort(([a], [b]) => a - b)
      .map(([status, times]) => `${status}: ${times}`);
    process.stdout.write(`${id}  ${text.join(", ")}\n`);
  }
}

async function run(): Promise<void> {
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
  process.stdout.write(`seed ${seed}, ${seconds} s\n`);
  const deadline = performance.now() + seconds * 1_000;
  const statuses: Statuses = new Map();
  let target = await startTarget();
  try {
    for (let round = 0; performance.now() < deadline; round++) {
      if (round > 0 && round % ROUNDS_PER_TARGET === 0) {
        await target.api.stop();
        target = await startTarget();
      }
      const { document } = await target.api.contract();
      for (const operation of operationsOf(document)) {
        if (values.operation !== undefined && operation.id !== values.operation) continue;
        const options = { seed: seed + round, requests: REQUESTS_PER_ROUND };
        await fuzzOperation(target, operation, options, statuses);
      }
    }
  } finally {
    print(statuses);
  }
}

/** Reads inputs for as long as wanted. The first that fails is printed. */
async function runParser(name: string): Promise<void> {
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
  const deadline = performance.now() + seconds * 1_000;
  const inputs = await fuzzParser(name, seed, () => performance.now() < deadline);
  process.stdout.write(`${name}  seed ${seed}, ${seconds} s: ${inputs} inputs\n`);
}

const { parser } = values;
if (values.help) process.stdout.write(USAGE);
else await runProgram(parser === undefined ? run : () => runParser(parser));
