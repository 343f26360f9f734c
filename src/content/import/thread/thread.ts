import { openDatabase, type Sql } from "../../../db/client.ts";
import { ImportError } from "../../../documents/errors.ts";
import { DB_CLOSE_TIMEOUT_SECONDS } from "../../../domain/limits.ts";
import { postedProblem } from "../../../domain/problem/posted-problem.ts";
import { Problem } from "../../../domain/problem/problem.ts";
import { toProblem } from "../../../http/respond.ts";
import { setThreadNiceness } from "../../../ops/thread-priority.ts";
import { postEvent, runThread, threadOptions } from "../../../ops/threads/run-thread.ts";
import { PostedInput, spooled } from "./input.ts";
import type { ImportFailure, ImportJob, ImportProtocol } from "./messages.ts";
import { runJob } from "./run-job.ts";

/** Requests take precedence over the parsing of imports. */
const IMPORT_NICENESS = 10;

/**
 * The entry point of a thread that runs imports, one after another, whose parsing would otherwise delay all
 * other requests. Its imports share a database connection, because a new one takes longer than a small import.
 */
const { databaseUrl, spoolFolder, embedders } = threadOptions<ImportProtocol>();
let input: PostedInput | undefined;
/** The connection of the last import, unless that has failed and may have left something in it. */
let kept: Sql | undefined;

function failureOf(error: unknown): ImportFailure {
  const isImport = error instanceof ImportError;
  const { severity } = error as { severity?: unknown };
  return {
    // The caller can repeat an import that others have disturbed.
    ...postedProblem(
      isImport ? new Problem("overloaded", { detail: `${error.message}.` }) : toProblem(error),
    ),
    // Refused or lost bytes may leave a decompressor behind. An error of PostgreSQL does not.
    leavesNothing: isImport || severity !== undefined,
  };
}

function openConnection(): Sql {
  return openDatabase(databaseUrl, {
    connections: 1,
    applicationName: "tessera-import",
    statementTimeoutMs: 0,
  });
}

async function run(job: ImportJob, input: PostedInput): Promise<ImportProtocol["result"]> {
  const sql = kept ?? openConnection();
  kept = undefined;
  try {
    // A transaction must not wait for a client.
    const whole = job.strict || job.atOnce ? await spooled(input, spoolFolder) : input;
    const report = await runJob(sql, { ...job, embedders }, whole, () => input.requireSender());
    kept = sql;
    return { report };
  } catch (error) {
    // The answer does not wait for that.
    void sql.end({ timeout: DB_CLOSE_TIMEOUT_SECONDS });
    return failureOf(error);
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
