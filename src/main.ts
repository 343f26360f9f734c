import { explain, traceOf } from "./failure.ts";
import { callerDirectory, ENVIRONMENT } from "./ops/config/caller.ts";
import { loadConfig } from "./ops/config/load.ts";
import { serveUntilSignal } from "./serve.ts";

const USAGE = `usage: npm start

Runs the service until it gets SIGTERM or SIGINT. Environment variables configure it, see docs/configuration.md; without
any it keeps its data in ./data and listens on http://127.0.0.1:3000.

  --help
`;

const [argument] = process.argv.slice(2);
if (argument === "--help") {
  process.stdout.write(USAGE);
  process.exit(0);
}
if (argument !== undefined) {
  process.stderr.write(`tessera: unknown argument "${argument}"\n\n${USAGE}`);
  process.exit(1);
}

process.chdir(callerDirectory());
try {
  process.exit(await serveUntilSignal(loadConfig()));
} catch (error) {
  process.stderr.write(`tessera: ${explain(error)}\n${traceOf(error, ENVIRONMENT["LOG_LEVEL"])}`);
  process.exit(1);
}
