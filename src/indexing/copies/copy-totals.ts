import type { CopyFigures } from "../../observability/metrics.ts";
import type { CopyResult } from "./copy-task.ts";

type CopyOutcome = Exclude<keyof CopyFigures, "bytes" | "seconds">;
type CopyDirection = "upload" | "download";

/** Uploads and downloads by their outcome, with the bytes and seconds that they took. */
export type CopyTotals = Readonly<Record<CopyDirection, CopyFigures>>;

const NONE: CopyFigures = { done: 0, unavailable: 0, damaged: 0, bytes: 0, seconds: 0 };

export class CopyTotalsCount {
  totals: CopyTotals = { upload: NONE, download: NONE };

  count(
    direction: CopyDirection,
    outcome: CopyOutcome,
    { bytes, seconds }: Pick<CopyResult, "bytes" | "seconds">,
  ): void {
    const before = this.totals[direction];
    const after = {
      ...before,
      [outcome]: before[outcome] + 1,
      bytes: before.bytes + bytes,
      seconds: before.seconds + seconds,
    };
    this.totals = { ...this.totals, [direction]: after };
  }
}
