import { SingleBar } from "cli-progress";
import { abbreviate } from "../shared/abbreviate.ts";
import { IMPORT_STRAY_FIELDS } from "../shared/limits.ts";
import type { ImportSummary } from "./importer.ts";

const CLEAR_LINE = "\r\x1b[K";

/**
 * Tells how an import goes: refused lines on standard error as they come, a progress bar there
 * when it is a terminal, and a summary on standard output at the end.
 */
export class Reporter {
  readonly #started = performance.now();
  readonly #bar: SingleBar | undefined;
  readonly #total: number | null;
  readonly #stray = new Set<string>();
  #done = 0;
  #records = 0;

  /** `total` in units of `advance`, null when unknown. */
  constructor(total: number | null, unit: "bytes" | "files", terminal = process.stderr.isTTY) {
    this.#total = total;
    if (!terminal) return;
    const amount = unit === "bytes" ? "" : " | {value} of {total} files";
    const format =
      total === null
        ? "importing | {records} records | {rate} records/s"
        : `importing {bar} {percentage}%${amount} | {records} records | {rate} records/s | {eta_formatted} left`;
    this.#bar = new SingleBar({
      format,
      stream: process.stderr,
      hideCursor: true,
      clearOnComplete: true,
      // The command itself ends cleanly when it is interrupted.
      gracefulExit: false,
      etaBuffer: 50,
    });
    this.#bar.start(total ?? 1, 0, { records: 0, rate: 0 });
  }

  advance(amount: number): void {
    this.#done += amount;
    this.#draw();
  }

  kept(kinds: ReadonlyMap<string, number>): void {
    for (const number of kinds.values()) this.#records += number;
    this.#draw();
  }

  readonly error = (where: string, reason: string): void => {
    if (this.#bar !== undefined) process.stderr.write(CLEAR_LINE);
    process.stderr.write(`${withoutControls(where)}: ${reason}\n`);
  };

  /** Tells of a field that was passed over, where it is first met, so that a misspelt one is noticed. */
  readonly stray = (where: string, field: string): void => {
    if (this.#stray.has(field) || this.#stray.size >= IMPORT_STRAY_FIELDS) return;
    this.#stray.add(field);
    const place = withoutControls(where);
    this.error("tessera", `passed over the unknown field ${abbreviate(field)}, first in ${place}`);
  };

  stop(): void {
    this.#bar?.stop();
  }

  /** The summary, one line for the counts and one for what was refused. */
  summary({ kept, refused, changed }: ImportSummary, strict: boolean): string {
    const seconds = this.#seconds();
    const total = [...kept.values()].reduce((sum, number) => sum + number, 0);
    const kinds = [...kept].map(([kind, number]) => `${number} ${kind}`).join(", ");
    const lines: string[] = [];
    if (refused > 0 && strict) {
      lines.push(`nothing was kept: ${refused} ${plural(refused, "line")} refused (--strict)`);
    } else {
      const rate = Math.round(total / seconds);
      lines.push(
        `imported ${total} ${plural(total, "record")} in ${seconds.toFixed(1)} s (${rate} a second)` +
          `${kinds === "" ? "" : `: ${kinds}`}`,
        changed === 0 ? "nothing changed: all of it was there" : `${changed} rows changed`,
      );
      if (refused > 0) lines.push(`${refused} ${plural(refused, "line")} refused, see above`);
    }
    return `${lines.join("\n")}\n`;
  }

  #draw(): void {
    const rate = Math.round(this.#records / this.#seconds());
    const value = this.#total === null ? 0 : Math.min(this.#done, this.#total);
    this.#bar?.update(value, { records: this.#records, rate });
  }

  #seconds(): number {
    return Math.max(0.001, (performance.now() - this.#started) / 1000);
  }
}

/** The name of a file may hold anything, and must not steer the terminal. */
function withoutControls(where: string): string {
  return where.replace(/\p{Cc}/gu, "?");
}

function plural(number: number, noun: string): string {
  return number === 1 ? noun : `${noun}s`;
}
