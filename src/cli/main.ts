import { callerDirectory, ENVIRONMENT } from "../config/caller.ts";
import { run } from "./run.ts";

process.chdir(callerDirectory());
const { stdin, stdout, stderr } = process;
process.exitCode = await run(process.argv.slice(2), { stdin, stdout, stderr, env: ENVIRONMENT });
