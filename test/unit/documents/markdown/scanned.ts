/** Counts the characters that JavaScript looks at, in place of the time that this takes. */

/** A pattern that looks at more than this at a time sees a whole text. */
const PIECE_MAX_CHARS = 8_192;

export interface Scanned {
  /** Characters that were read one by one, searched, or compared with patterns. */
  readonly characters: number;
  /** The patterns that were given more than a piece of a text. */
  readonly wholeText: readonly string[];
}

type Method = (this: never, ...args: never[]) => unknown;

/** Runs synchronous work with methods of strings and patterns that count what they look at. */
export function countScanned(work: () => unknown): Scanned {
  let characters = 0;
  const wholeText = new Set<string>();
  const originals: [object, string, Method][] = [];
  const replace = <T>(of: T & object, names: string[], counted: (run: Method) => unknown) => {
    for (const name of names) {
      const run = of[name as keyof T] as Method;
      originals.push([of, name, run]);
      Object.defineProperty(of, name, { value: counted(run), configurable: true, writable: true });
    }
  };
  // biome-ignore lint/suspicious/noExplicitAny: methods of any kind are called as they were
  const call = (run: Method, on: unknown, args: unknown[]): any =>
    run.apply(on as never, args as never);

  replace(String.prototype, ["at", "charAt", "charCodeAt", "codePointAt"], (run) => {
    return function (this: string, ...args: unknown[]) {
      characters++;
      return call(run, this, args);
    };
  });
  replace(String.prototype, ["indexOf", "includes", "lastIndexOf"], (run) => {
    return function (this: string, ...args: unknown[]) {
      const found = call(run, this, args);
      characters += 1 + searchedOf(this.length, run.name, args[1], found);
      return found;
    };
  });
  const whole = ["trim", "trimStart", "trimEnd", "normalize", "toLowerCase", "toUpperCase"];
  replace(String.prototype, [...whole, "toWellFormed"], (run) => {
    return function (this: string, ...args: unknown[]) {
      characters += 1 + this.length;
      return call(run, this, args);
    };
  });
  replace(RegExp.prototype, ["exec"], (run) => {
    return function (this: RegExp, text: unknown) {
      const { length } = String(text);
      const from = this.global || this.sticky ? this.lastIndex : 0;
      const match = call(run, this, [text]) as RegExpExecArray | null;
      const end = this.sticky ? from : length;
      characters += 1 + Math.max(0, (match ? match.index + match[0].length : end) - from);
      if (length > PIECE_MAX_CHARS) wholeText.add(this.source);
      return match;
    };
  });
  replace(RegExp.prototype, ["test"], () => {
    return function (this: RegExp, text: string) {
      return this.exec(text) !== null;
    };
  });
  try {
    work();
  } finally {
    for (const [of, name, value] of originals) {
      Object.defineProperty(of, name, { value, configurable: true, writable: true });
    }
  }
  return { characters, wholeText: [...wholeText] };
}

/** How many characters a search of a string has compared. */
function searchedOf(
  length: number,
  method: string,
  from: unknown,
  found: number | boolean,
): number {
  if (method === "lastIndexOf") {
    return Math.min(length, (from as number | undefined) ?? length) - Math.max(found as number, 0);
  }
  const start = (from as number | undefined) ?? 0;
  // Where a string was found is not known, so all of it may have been compared.
  return Math.max(0, (typeof found === "number" && found >= 0 ? found : length) - start);
}
