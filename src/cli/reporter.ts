import type { SingleBar } from "cli-progress";
import type { ImportSummary } from "../content/import/import-summary.ts";
import { knownField } from "../content/import/records/parse.ts";
import { unscopedFiles } from "../content/import/records/parsed-record.ts";
import { abbreviate } from "../domain/abbreviate.ts";
import { IMPORT_UNKNOWN_FIELDS_MAX } from "../domain/limits.ts";
import type { Output } from "./io.ts";
import { CLEAR_LINE, plural, withoutControls, write, writeStyled } from "./output.ts";
import { progressBar, WaitNotice } from "./progress.ts";

const BYTES_PER_MB = 1_000_000;

/** Reports the progress of an import and its rejected records on standard error, with a progress bar on a terminal. */
export class Reporter {
  readonly #started = performance.now();
  readonly #bar: SingleBar | undefined;
  readonly #stderr: Output;
  readonly #total: number | null;
  readonly #unit: "bytes" | "files";
  readonly #unknownFields = new Set<string>();
  #done = 0;
  #records = 0;
  #firstUnscoped: string | undefined;
  #unscoped = 0;
  #wait: WaitNotice | undefined;

  /** `total` is in units of `advance`; null if unknown. */
  constructor(stderr: Output, total: number | null, unit: "bytes" | "files") {
    this.#stderr = stderr;
    this.#total = total;
    this.#unit = unit;
    // The rate is that of the bar. Records are counted when they are stored, many at once.
    const amount = unit === "bytes" ? "{records} records" : "{value} of {total} files";
    const bar = total === null ? "|" : "{bar} {percentage}% |";
    const left = total === null ? "" : " | {eta_formatted} left";
    const format = `importing ${bar} ${amount} | {rate}/s${left}`;
    this.#bar = progressBar(stderr, format);
    this.#bar?.start(total ?? 1, 0, { records: 0, rate: this.#rate() });
  }

  /** Moves the progress bar by this many bytes or files. */
  readonly onRead = (amount: number): void => {
    this.#done += amount;
    this.#draw();
  };

  readonly onFile = (): void => this.onRead(1);

  readonly onBatch = (imported: ReadonlyMap<string, number>): void => {
    for (const count of imported.values()) this.#records += count;
    this.#draw();
  };

  /** Shows the step after the last record. */
  readonly onFinishing = (step: string): void => {
    this.#bar?.stop();
    this.#wait ??= new WaitNotice(this.#stderr);
    this.#wait.show(`all records are read: ${step}`);
  };

  readonly onReport = (where: string, reason: string): void => {
    if (this.#bar !== undefined) writeStyled(this.#stderr, CLEAR_LINE);
    write(this.#stderr, `${withoutControls(where)}: ${reason}\n`);
  };

  /** Reports an unknown field where it first occurs, because it may be a misspelling. */
  readonly onUnknownField = (where: string, field: string): void => {
    const reported = this.#unknownFields;
    if (reported.has(field) || reported.size >= IMPORT_UNKNOWN_FIELDS_MAX) return;
    reported.add(field);
    const similar = knownField(field);
    const hint = similar === undefined ? "" : `; did you mean ${similar}?`;
    this.onReport(
      "tessera",
      `ignored unknown field ${abbreviate(field)}, first at ${withoutControls(where)}${hint}`,
    );
  };

  /** Counts a file without a scope, which no search finds. */
  readonly onUnscoped = (where: string): void => {
    this.#firstUnscoped ??= where;
    this.#unscoped++;
  };

  /** Reports a problem that no single record causes. */
  warn(): void {
    if (this.#firstUnscoped === undefined) return;
    const first = withoutControls(this.#firstUnscoped);
    this.onReport("tessera", `${unscopedFiles(this.#unscoped)}; first at ${first}`);
  }

  /** The message about the records that stay, for an interrupted import. */
  kept(strict: boolean): string {
    if (strict || this.#records === 0) return "nothing was imported";
    return (
      `${plural(this.#records, "record")} imported, which stay: run the same command again to go on, ` +
      "it changes nothing that is imported already"
    );
  }

  stop(): void {
    this.#bar?.stop();
    this.#wait?.stop();
  }

  /** The counts of imported, changed and rejected records, one per line. */
  summary(
    { imported, rejected, changed }: ImportSummary,
    { strict, database }: { readonly strict: boolean; readonly database: string },
  ): string {
    if (rejected > 0 && strict) {
      return `nothing imported: ${plural(rejected, "record")} rejected (--strict)\n`;
    }
    const seconds = this.#seconds();
    const total = [...imported.values()].reduce((sum, count) => sum + count, 0);
    const kinds = [...imported]
      .map(([kind, count]) => plural(count, kind.replaceAll("_", " ")))
      .join(", ");
    const rate = Math.round(total / seconds);
    const lines = [
      `imported ${plural(total, "record")} in ${seconds.toFixed(1)} s (${rate} records/s)` +
        `${kinds === "" ? "" : `: ${kinds}`}`,
      `${changed === 0 ? "nothing" : plural(changed, "row")} changed in ${database}`,
    ];
    if (rejected > 0) lines.push(`${plural(rejected, "record")} rejected, see above`);
    return `${lines.join("\n")}\n`;
  }

  #draw(): void {
    const value = this.#total === null ? 0 : Math.min(this.#done, this.#total);
    this.#bar?.update(value, { records: this.#records, rate: this.#rate() });
  }

  #rate(): string {
    const rate = this.#done / this.#seconds();
    return this.#unit === "files"
      ? `${Math.round(rate)} files`
      : `${(rate / BYTES_PER_MB).toFixed(1)} MB`;
  }

  #seconds(): number {
    return Math.max(0.001, (performance.now() - this.#started) / 1000);
  }
}
