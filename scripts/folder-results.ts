/** Adds up the results of the processes of each folder, and prints a line when the last of them has ended. */
import type { Counts, Outcome } from "./test-process.ts";

interface Sums extends Counts {
  seconds: number;
  cpuSeconds: number;
  /** Processes that have not ended. */
  running: number;
}

export class FolderResults {
  readonly total: Counts = { passed: 0, failed: 0, skipped: 0 };
  /** A line for each test that failed. */
  readonly failures: string[] = [];
  readonly #folders = new Map<string, Sums>();

  /** Announces processes. */
  expect(steps: readonly { readonly folder: string }[]): void {
    for (const { folder } of steps) this.#of(folder).running++;
  }

  /** Adds the result of a process. Its output is shown unless everything passed; skipped tests say why in it. */
  add(folder: string, outcome: Outcome, seconds: number): void {
    const { counts, output, cpuSeconds, failures } = outcome;
    this.failures.push(...failures);
    const sums = this.#of(folder);
    for (const name of ["passed", "failed", "skipped"] as const) {
      sums[name] += counts[name];
      this.total[name] += counts[name];
    }
    sums.seconds += seconds;
    sums.cpuSeconds += cpuSeconds;
    sums.running--;
    if (counts.failed + counts.skipped > 0) process.stdout.write(`${output.trimEnd()}\n`);
    if (sums.running === 0) print(folder, sums);
  }

  #of(folder: string): Sums {
    const none = { passed: 0, failed: 0, skipped: 0, seconds: 0, cpuSeconds: 0, running: 0 };
    const sums = this.#folders.get(folder) ?? none;
    this.#folders.set(folder, sums);
    return sums;
  }
}

function print(folder: string, { passed, failed, skipped, seconds, cpuSeconds }: Sums): void {
  const counts = [`${passed} passed`];
  if (failed > 0) counts.push(`${failed} failed`);
  if (skipped > 0) counts.push(`${skipped} skipped`);
  const cost = [`${seconds.toFixed(1)} s`, `CPU ${cpuSeconds.toFixed(0)} s`];
  const verdict = failed > 0 ? "FAIL" : "ok  ";
  process.stdout.write(`${verdict} ${folder} ${[...counts, ...cost].join(", ")}\n`);
}
