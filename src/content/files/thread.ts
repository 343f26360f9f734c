import { openDatabase } from "../../db/client.ts";
import { postedProblem } from "../../domain/problem/posted-problem.ts";
import { toProblem } from "../../http/respond.ts";
import { setThreadNiceness } from "../../ops/thread-priority.ts";
import { runThread, threadOptions } from "../../ops/threads/run-thread.ts";
import { storeText } from "./change-file.ts";
import type { WriteProtocol } from "./write-thread.ts";

/** Requests take precedence over the reading of large files. */
const WRITE_NICENESS = 10;
/** Maximum files that are stored concurrently. */
const WRITE_DB_CONNECTIONS = 4;

/** The entry point of the thread that stores large files. */
const sql = openDatabase(threadOptions<WriteProtocol>().databaseUrl, {
  connections: WRITE_DB_CONNECTIONS,
  applicationName: "tessera-writes",
});

setThreadNiceness(WRITE_NICENESS);
runThread<WriteProtocol>({
  async run(text) {
    try {
      return { written: await storeText(sql, text, true) };
    } catch (error) {
      return postedProblem(toProblem(error));
    }
  },
});
