const FIRST_UNITS = 4_096;

/** Space for the code units of a text. */
class Units {
  #units = new Uint16Array(FIRST_UNITS);
  #bytes = Buffer.from(this.#units.buffer);

  /** Space for `length` code units. The next call may return the same space. */
  reserve(length: number): Uint16Array {
    if (this.#units.length < length) {
      this.#units = new Uint16Array(length * 2);
      this.#bytes = Buffer.from(this.#units.buffer);
    }
    return this.#units;
  }

  read(text: string): Uint16Array {
    const units = this.reserve(text.length);
    this.#bytes.write(text, "utf16le");
    return units;
  }
}

const source = new Units();

/**
 * The UTF-16 code units of a text, which compiled code reads faster than the characters of a string.
 * The next call overwrites them.
 */
export function unitsOf(text: string): Uint16Array {
  return source.read(text);
}
