/** The service, which dies at the failpoints that its arguments name. */
import { loadConfig } from "../../src/ops/config/load.ts";
import { serveUntilSignal } from "../../src/serve.ts";

const failpoints = process.argv.slice(2);
process.exit(await serveUntilSignal({ ...loadConfig(), failpoints }));
