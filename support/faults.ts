import { onCleanup } from "./cleanup.ts";

/** Something that is broken until it is disposed of, and at the latest until the last test of its file has ended. */
export interface Fault extends AsyncDisposable {
  /** Mends it before it is disposed of. */
  end(): Promise<void>;
}

/** A fault that has just begun. `undo` mends it. */
export function faultUntil(undo: () => Promise<void> | void): Fault {
  const end = onCleanup(undo);
  return { end, [Symbol.asyncDispose]: end };
}

/** A fault that begins and ends in the middle of other work, and is over once this is disposed of. */
export class FaultDuring implements AsyncDisposable {
  #fault: Promise<Fault | undefined> | undefined;

  constructor(private readonly inject: () => Promise<Fault | undefined>) {}

  begin(): void {
    this.#fault ??= this.inject();
  }

  async end(): Promise<void> {
    await (await this.#fault)?.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}
