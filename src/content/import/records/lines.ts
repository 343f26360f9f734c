export interface Line {
  /** Counts from 1. */
  readonly number: number;
  /** Without its line break; null if the line was too long and was skipped. */
  readonly bytes: Uint8Array | null;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const TAB = 0x09;
const SPACE = 0x20;

function isBlank(byte: number | undefined): boolean {
  // From the tab to the carriage return are the other blanks of ASCII.
  return byte === SPACE || (byte !== undefined && byte >= TAB && byte <= CARRIAGE_RETURN);
}

/** Buffers the pieces of one line. Drops them as soon as the line is too long. */
class LineBuffer {
  #pieces: Uint8Array[] = [];
  #length = 0;
  #overflowed = false;

  constructor(private readonly maxBytes: number) {}

  get empty(): boolean {
    return this.#length === 0 && !this.#overflowed;
  }

  add(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.#length > this.maxBytes) {
      this.#overflowed = true;
      this.#pieces = [];
    } else if (!this.#overflowed && piece.length > 0) {
      this.#pieces.push(piece);
    }
  }

  take(): Uint8Array | null {
    const line = this.#overflowed ? null : joined(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    this.#overflowed = false;
    return line === null ? null : withoutCarriageReturn(line);
  }
}

function joined(pieces: Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
}

function withoutCarriageReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

/**
 * Splits a stream of bytes into lines that end with LF or CR LF. The last line may end with neither.
 * Blank lines are counted and left out. Yields the lines of each piece of the stream together. Buffers
 * at most one piece of the stream and one line of `maxBytes`, including its carriage return.
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Line[]> {
  const buffer = new LineBuffer(maxBytes);
  let number = 0;
  for await (const piece of source) {
    const lines: Line[] = [];
    const put = (bytes: Uint8Array | null) => {
      if (bytes?.every(isBlank) !== true) lines.push({ number, bytes });
    };
    let from = 0;
    for (;;) {
      let at = from;
      // Checking the blank lines of a piece one by one could take too long.
      for (; buffer.empty && isBlank(piece[at]); at++) {
        if (piece[at] !== NEWLINE) continue;
        number++;
        from = at + 1;
      }
      const end = piece.indexOf(NEWLINE, at);
      if (end < 0) break;
      buffer.add(piece.subarray(from, end));
      number++;
      put(buffer.take());
      from = end + 1;
    }
    buffer.add(piece.subarray(from));
    if (lines.length > 0) yield lines;
  }
  const last = buffer.empty ? undefined : buffer.take();
  if (last !== undefined && last?.every(isBlank) !== true)
    yield [{ number: number + 1, bytes: last }];
}
