import { openDatabase } from "../../db/client.ts";
import { DB_CLOSE_TIMEOUT_SECONDS } from "../../shared/limits.ts";
import { setThreadNiceness } from "../../shared/thread-priority.ts";
import { postEvent, runThread, threadOptions } from "../../threads/run-thread.ts";
import { ImportError, RightLost, TargetGone } from "../records/errors.ts";
import type { ImportFailure, ImportJob, ImportProtocol } from "./messages.ts";
import { InputLost, PostedInput } from "./posted-input.ts";
import { runJob } from "./run-job.ts";
import { spooled } from "./spool.ts";
import { InputRefused, InputTooLarge } from "./upload-guard.ts";

/** All requests go before the parsing of imports. */
const IMPORT_NICENESS = 10;

/**
 * The entry point of a thread that runs imports, one after another, whose parsing would otherwise delay all
 * other requests. Each import has a database connection of its own.
 */
const { databaseUrl, spoolFolder, embedders } = threadOptions<ImportProtocol>();
let input: PostedInput | undefined;

function failureOf(error: unknown): ImportFailure {
  if (error instanceof InputTooLarge) return { kind: "too-large" };
  if (error instanceof InputRefused) return { kind: "refused", message: error.message };
  if (error instanceof InputLost) return { kind: "lost" };
  if (error instanceof TargetGone) return { kind: "gone" };
  if (error instanceof RightLost) return { kind: "right-lost" };
  if (error instanceof ImportError) return { kind: "import", message: error.message };
  const { message, stack, code, severity } = error as Error & { code?: string; severity?: string };
  return { kind: "error", message: message ?? String(error), stack, code, severity };
}

async function run(job: ImportJob, input: PostedInput): Promise<ImportProtocol["result"]> {
  const sql = openDatabase(databaseUrl, {
    connections: 1,
    applicationName: "tessera-import",
    statementTimeoutMs: 0,
  });
  try {
    // A transaction must not wait for a client.
    const whole = job.strict || job.atOnce ? await spooled(input, spoolFolder) : input;
    return { report: await runJob(sql, { ...job, embedders }, whole, () => input.requireSender()) };
  } catch (error) {
    return { failure: failureOf(error) };
  } finally {
    // The answer does not wait for that.
    void sql.end({ timeout: DB_CLOSE_TIMEOUT_SECONDS });
  }
}

setThreadNiceness(IMPORT_NICENESS);
runThread<ImportProtocol>({
  run(job) {
    input = new PostedInput((takenBytes) => postEvent<ImportProtocol>({ takenBytes }));
    return run(job, input);
  },
  receive: (message) => input?.receive(message),
});
