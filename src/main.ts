import { callerDirectory } from "./config/caller.ts";
import { loadConfig } from "./config/load.ts";
import { explain } from "./failure.ts";
import { serveUntilSignal } from "./serve.ts";

process.chdir(callerDirectory());
try {
  process.exit(await serveUntilSignal(loadConfig()));
} catch (error) {
  process.stderr.write(`tessera: ${explain(error)}\n`);
  process.exit(1);
}
