import { parentPort, workerData } from "node:worker_threads";
import { openDatabase } from "../../db/client.ts";
import { DB_CLOSE_TIMEOUT_SECONDS, IMPORT_NICENESS } from "../../shared/limits.ts";
import { setThreadNiceness } from "../../shared/thread-priority.ts";
import { ImportError } from "../records/errors.ts";
import type {
  FromImport,
  ImportFailure,
  ImportJob,
  ImportThreadOptions,
  ToImport,
} from "./messages.ts";
import { InputLost, PostedInput } from "./posted-input.ts";
import { runJob } from "./run-job.ts";
import { spooled } from "./spool.ts";
import { InputRefused, InputTooLarge } from "./upload-guard.ts";

/**
 * The entry point of a thread that runs imports, one after another, whose parsing would otherwise delay all
 * other requests. Each import has a database connection of its own.
 */
const port = parentPort as NonNullable<typeof parentPort>;
const { databaseUrl, spoolFolder } = workerData as ImportThreadOptions;
const post = (message: FromImport) => port.postMessage(message);
let input: PostedInput | undefined;

function failureOf(error: unknown): ImportFailure {
  if (error instanceof InputTooLarge) return { kind: "too-large" };
  if (error instanceof InputRefused) return { kind: "refused", message: error.message };
  if (error instanceof InputLost) return { kind: "lost" };
  if (error instanceof ImportError) return { kind: "import", message: error.message };
  const { message, stack, code, severity } = error as Error & { code?: string; severity?: string };
  return { kind: "error", message: message ?? String(error), stack, code, severity };
}

async function run(job: ImportJob, input: PostedInput): Promise<void> {
  const sql = openDatabase(databaseUrl, {
    connections: 1,
    applicationName: "tessera-import",
    statementTimeoutMs: 0,
  });
  try {
    // A transaction must not wait for a client.
    const whole = job.strict ? await spooled(input, spoolFolder) : input;
    post({ type: "done", report: await runJob(sql, job, whole, () => input.requireSender()) });
  } catch (error) {
    post({ type: "failed", failure: failureOf(error) });
  } finally {
    await sql.end({ timeout: DB_CLOSE_TIMEOUT_SECONDS });
  }
}

setThreadNiceness(IMPORT_NICENESS);
port.on("message", (message: ToImport) => {
  if (message.type !== "start") {
    input?.receive(message);
    return;
  }
  input = new PostedInput((bytes) => post({ type: "taken", bytes }));
  void run(message.job, input);
});
