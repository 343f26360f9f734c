import type { CopyResult } from "./copy-task.ts";

type CopyOutcome = "done" | "unavailable" | "damaged";
type CopyDirection = "upload" | "download";

type DirectionTotals = Readonly<Record<CopyOutcome | "bytes" | "seconds", number>>;
/** Uploads and downloads by their outcome, with the bytes and seconds that they took. */
export type CopyTotals = Readonly<Record<CopyDirection, DirectionTotals>>;

const NONE: DirectionTotals = { done: 0, unavailable: 0, damaged: 0, bytes: 0, seconds: 0 };

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
