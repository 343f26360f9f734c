import { WORD_MAX_CHARS } from "../../shared/limits.ts";
import { foldedCharacter } from "./characters.ts";
import { type FoldedCharacter, KIND, pictographsIn } from "./folding.ts";
import { charactersIn, eachSimpleRun } from "./simple-runs.ts";

/**
 * Receives a token as code units, which are overwritten later, and its start and end in the text, at boundaries of
 * characters.
 */
type OnToken = (units: Uint16Array, from: number, to: number, start: number, end: number) => void;

/** Passes on the tokens of a text in any script without ASCII separators. `onToken` must not tokenize. */
export function eachToken(text: string, onToken: OnToken): void {
  const isSimple = eachSimpleRun(text, (kind, units, from, to) => {
    if (kind === KIND.spaced) {
      onToken(units, from, Math.min(to, from + WORD_MAX_CHARS), from, to);
      return;
    }
    for (let i = from; i < to; i++) {
      const end = Math.min(to, i + 2);
      onToken(units, i, end, i, end);
    }
  });
  if (isSimple) return;
  for (const { token, start, end } of foldedTokens(text)) {
    for (let i = 0; i < token.length; i++) tokenUnits[i] = token.charCodeAt(i);
    onToken(tokenUnits, 0, token.length, start, end);
  }
}

const tokenUnits = new Uint16Array(WORD_MAX_CHARS);

interface FoldedToken {
  readonly token: string;
  readonly start: number;
  readonly end: number;
}

/** Words of a language with marks, which texts repeat. */
const KNOWN_MAX = 16_384;
const known = new Map<string, readonly FoldedToken[]>();

/** The tokens of a text that must be folded character by character. Those of a word are cached. */
function foldedTokens(text: string): readonly FoldedToken[] {
  let tokens = known.get(text);
  if (tokens !== undefined) return tokens;
  tokens = new CharacterRuns().read(text);
  if (text.length > WORD_MAX_CHARS) return tokens;
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(text, tokens);
  return tokens;
}

class CharacterRuns {
  readonly #tokens: FoldedToken[] = [];
  /** The kind of the run that is being read. */
  #kind: number = KIND.separator;
  #text = "";
  #start = 0;
  #end = 0;

  read(text: string): readonly FoldedToken[] {
    let at = 0;
    for (const character of charactersIn(text)) {
      const end = at + character.length;
      this.#add(character, foldedCharacter(character), at, end);
      at = end;
    }
    this.#endRun();
    return this.#tokens;
  }

  #add(character: string, { kind, text }: FoldedCharacter, start: number, end: number): void {
    if (kind === KIND.ignored) return;
    if (kind !== this.#kind) this.#endRun();
    this.#kind = kind;
    if (kind === KIND.pictograph) {
      for (const each of pictographsIn(character)) this.#push(each, start, end);
    } else if (kind === KIND.spaced) {
      if (this.#text === "") this.#start = start;
      // A token is cut to WORD_MAX_CHARS, so the rest is not kept.
      if (this.#text.length < WORD_MAX_CHARS) this.#text += text;
      this.#end = end;
    } else if (kind === KIND.unspaced) {
      if (this.#text !== "") this.#push(this.#text + text, this.#start, end);
      this.#text = text;
      this.#start = start;
      this.#end = end;
    }
  }

  #endRun(): void {
    if (this.#text !== "") this.#push(this.#text, this.#start, this.#end);
    this.#text = "";
  }

  #push(text: string, start: number, end: number): void {
    this.#tokens.push({ token: truncate(text), start, end });
  }
}

/** Truncates a long token, but not in the middle of a surrogate pair. */
function truncate(token: string): string {
  if (token.length <= WORD_MAX_CHARS) return token;
  const last = token.charCodeAt(WORD_MAX_CHARS - 1);
  return token.slice(0, last >= 0xd800 && last <= 0xdbff ? WORD_MAX_CHARS - 1 : WORD_MAX_CHARS);
}
