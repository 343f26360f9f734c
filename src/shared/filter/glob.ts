import type { Steps } from "./steps.ts";

/** A part of a pattern: it matches one code point, or any number of them. */
type Token =
  | { readonly kind: "literal"; readonly char: string }
  /** One code point of a name. */
  | { readonly kind: "one" }
  /** Any part of a name. */
  | { readonly kind: "star" }
  /** Anything. */
  | { readonly kind: "globstar" }
  /** Zero or more folders, with the slash at their end. */
  | { readonly kind: "folders" };

/** The tokens of a pattern. `folders` after `folders` is redundant, and left out. */
function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  const chars = [...pattern];
  for (let at = 0; at < chars.length; ) {
    const char = chars[at] as string;
    let stars = 0;
    while (chars[at + stars] === "*") stars++;
    const beginsName = at === 0 || chars[at - 1] === "/";
    if (stars === 2 && beginsName && chars[at + 2] === "/") {
      if (tokens.at(-1)?.kind !== "folders") tokens.push({ kind: "folders" });
      at += 3;
    } else if (stars > 0) {
      tokens.push({ kind: stars === 1 ? "star" : "globstar" });
      at += stars;
    } else {
      tokens.push(char === "?" ? { kind: "one" } : { kind: "literal", char });
      at++;
    }
  }
  return tokens;
}

/** A set of states, 32 in a word. */
type States = Uint32Array;

/** Maximum work of one step: code units of the text, times words of states. */
const STEP_WORDS = 65_536;

const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit < 0xe000;

const has = (states: States, state: number) =>
  ((states[state >>> 5] as number) & (1 << (state & 31))) !== 0;

function add(states: States, state: number): void {
  states[state >>> 5] = (states[state >>> 5] as number) | (1 << (state & 31));
}

/**
 * A nondeterministic automaton for a pattern. A state is the number of matched tokens, without stars, which let a state
 * stay. All states process a code point in a few operations per word, so a hostile pattern takes no longer than others
 * for a text of a million characters.
 */
class Automaton {
  readonly #words: number;
  readonly #last: number;
  /** The states that a code point advances: for each code point of the pattern, and for all others. */
  readonly #advances = new Map<string, States>();
  readonly #anyAdvances: States;
  /** The states that stay at a code point of a name, and at a slash. */
  readonly #stays: States;
  readonly #staysAtSlash: States;
  /** The states that advance without a code point. */
  readonly #skips: States;

  constructor(tokens: readonly Token[]) {
    const isStar = ({ kind }: Token) => kind === "star" || kind === "globstar";
    this.#last = tokens.filter((token) => !isStar(token)).length;
    this.#words = (this.#last >>> 5) + 1;
    const none = () => new Uint32Array(this.#words);
    this.#anyAdvances = none();
    this.#stays = none();
    this.#staysAtSlash = none();
    this.#skips = none();
    const literals: Array<readonly [state: number, char: string]> = [];
    let state = 0;
    for (const token of tokens) {
      const { kind } = token;
      if (kind !== "literal" && kind !== "one") add(this.#stays, state);
      if (kind === "globstar" || kind === "folders") add(this.#staysAtSlash, state);
      if (kind === "folders") add(this.#skips, state);
      if (kind === "one") add(this.#anyAdvances, state);
      else if (kind === "folders") literals.push([state, "/"]);
      else if (kind === "literal") literals.push([state, token.char]);
      if (!isStar(token)) state++;
    }
    this.#advances.set("/", none());
    for (const [from, char] of literals) {
      let advances = this.#advances.get(char);
      if (advances === undefined) {
        advances = this.#anyAdvances.slice();
        this.#advances.set(char, advances);
      }
      add(advances, from);
    }
  }

  matches(text: string): boolean | Steps<boolean> {
    const states = new Uint32Array(this.#words);
    states[0] = 1;
    if (has(this.#skips, 0)) add(states, 1);
    const step = Math.ceil(STEP_WORDS / this.#words);
    if (text.length > step) return this.#inSteps(states, text, step);
    return this.#takeAll(states, text) && has(states, this.#last);
  }

  *#inSteps(states: States, text: string, step: number): Steps<boolean> {
    for (let at = 0; at < text.length; ) {
      const end = at + step;
      // A step does not end within a surrogate pair.
      const next = isLowSurrogate(text.charCodeAt(end)) ? end + 1 : end;
      if (!this.#takeAll(states, text.slice(at, next))) return false;
      at = next;
      yield;
    }
    return has(states, this.#last);
  }

  /** Returns false once the set of states is empty. */
  #takeAll(states: States, text: string): boolean {
    for (const char of text) {
      if (!this.#take(states, char)) return false;
    }
    return true;
  }

  /** Returns false if the set of states is empty. */
  #take(states: States, char: string): boolean {
    const advances = this.#advances.get(char) ?? this.#anyAdvances;
    const stays = char === "/" ? this.#staysAtSlash : this.#stays;
    const skips = this.#skips;
    let [carried, skipped, any] = [0, 0, 0];
    for (let w = 0; w < this.#words; w++) {
      const word = states[w] as number;
      const leaving = word & (advances[w] as number);
      const entered = (leaving << 1) | carried;
      const skipping = entered & (skips[w] as number);
      const all = entered | (word & (stays[w] as number)) | (skipping << 1) | skipped;
      carried = leaving >>> 31;
      skipped = skipping >>> 31;
      states[w] = all;
      any |= all;
    }
    return any !== 0;
  }
}

/**
 * A test for a pattern: `*` is any part of a name, `**` also crosses `/`, a leading or inner folder
 * `**` matches zero or more folders, `?` is one code point of a name, everything else is literal. Its time grows with
 * the length of the text, times a 32nd of the length of the pattern. A long text is compared in steps.
 */
export function compileGlob(pattern: string): (text: string) => boolean | Steps<boolean> {
  const prefix = /^[^*?]*/.exec(pattern)?.[0] as string;
  if (prefix === pattern) return (text) => text === pattern;
  const automaton = new Automaton(tokensOf(pattern).slice([...prefix].length));
  return (text) => text.startsWith(prefix) && automaton.matches(text.slice(prefix.length));
}
