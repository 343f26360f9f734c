import { callerDirectory, ENVIRONMENT } from "./config/caller.ts";
import { loadConfig } from "./config/load.ts";
import { explain, traceOf } from "./failure.ts";
import { serveUntilSignal } from "./serve.ts";

process.chdir(callerDirectory());
try {
  process.exit(await serveUntilSignal(loadConfig()));
} catch (error) {
  process.stderr.write(`tessera: ${explain(error)}\n${traceOf(error, ENVIRONMENT["LOG_LEVEL"])}`);
  process.exit(1);
}
