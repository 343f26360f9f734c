import { callerDirectory, ENVIRONMENT } from "../ops/config/caller.ts";
import { READER_GONE_STATUS } from "./interruption.ts";
import { run } from "./run.ts";

process.chdir(callerDirectory());
const { stdin, stdout, stderr } = process;
const status = await run(process.argv.slice(2), { stdin, stdout, stderr, env: ENVIRONMENT });
// Without a reader the results are useless, so the work of the command must not go on.
if (status === READER_GONE_STATUS) process.exit(status);
process.exitCode = status;
