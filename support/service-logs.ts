/**
 * Warnings and errors of the services of tests. Those of all threads and processes go to the standard error of the test
 * process, where they come before the failure that they may explain. The test command shows the last of them.
 */

/** A line of the level `warn` or above, as services write it. */
const WARNING = /^\{"level":[4-6]0,/;
/** Precedes the lines of a service that is a process of its own. */
const SOURCE = /^service \d+: /;
const FAILURE = /^\(fail\) /;
const SHOWN_MAX_LINES = 40;

/** Passes on the warnings and errors that a service with this process id prints. */
export class ForwardedLogs {
  #unfinished = "";

  constructor(private readonly pid: number) {}

  add(text: string): void {
    const lines = (this.#unfinished + text).split("\n");
    this.#unfinished = lines.pop() ?? "";
    for (const line of lines.filter((each) => WARNING.test(each))) {
      process.stderr.write(`service ${this.pid}: ${line}\n`);
    }
  }
}

/** The output of a test process with at most the last warnings and errors before each failure, and before its end. */
export function withRecentLogs(output: string): string {
  const shown: string[] = [];
  let logged: string[] = [];
  const show = () => {
    const omitted = logged.length - SHOWN_MAX_LINES;
    if (omitted > 0) shown.push(`(${omitted} earlier warnings and errors of services)`);
    shown.push(...logged.slice(-SHOWN_MAX_LINES));
    logged = [];
  };
  for (const line of output.split("\n")) {
    if (WARNING.test(line.replace(SOURCE, ""))) logged.push(line);
    else {
      shown.push(line);
      if (FAILURE.test(line)) show();
    }
  }
  show();
  return shown.join("\n");
}
