import { WORD_MAX_CHARS } from "../../shared/limits.ts";
import { charactersOf, foldedCharacter } from "./characters.ts";
import { type FoldedCharacter, KIND, pictographsIn } from "./folding.ts";
import { eachSimpleRun } from "./simple-runs.ts";

/**
 * Receives a token as code units, which are overwritten later, and where it is in the text. That is whole
 * characters.
 */
type OnToken = (units: Uint16Array, from: number, to: number, start: number, end: number) => void;

/** Gives the tokens of a text in any script that has no ASCII separators. `onToken` must not tokenize. */
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
  if (!isSimple) new CharacterRuns(onToken).read(text);
}

/** Makes tokens of a text that has to be folded character by character. */
class CharacterRuns {
  readonly #onToken: OnToken;
  readonly #units = new Uint16Array(WORD_MAX_CHARS);
  /** Of the run that is being read. */
  #kind: number = KIND.separator;
  #text = "";
  #start = 0;
  #end = 0;

  constructor(onToken: OnToken) {
    this.#onToken = onToken;
  }

  read(text: string): void {
    let at = 0;
    for (const character of charactersOf(text)) {
      const end = at + character.length;
      this.#add(character, foldedCharacter(character), at, end);
      at = end;
    }
    this.#endRun();
  }

  #add(character: string, { kind, text }: FoldedCharacter, start: number, end: number): void {
    if (kind === KIND.ignored) return;
    if (kind !== this.#kind) this.#endRun();
    this.#kind = kind;
    if (kind === KIND.pictograph) {
      for (const each of pictographsIn(character)) this.#push(each, start, end);
    } else if (kind === KIND.spaced) {
      if (this.#text === "") this.#start = start;
      // What is beyond the longest token does not matter.
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
    const token = truncate(text);
    for (let i = 0; i < token.length; i++) this.#units[i] = token.charCodeAt(i);
    this.#onToken(this.#units, 0, token.length, start, end);
  }
}

/** Truncates a long token, but not in the middle of a surrogate pair. */
function truncate(token: string): string {
  if (token.length <= WORD_MAX_CHARS) return token;
  const last = token.charCodeAt(WORD_MAX_CHARS - 1);
  return token.slice(0, last >= 0xd800 && last <= 0xdbff ? WORD_MAX_CHARS - 1 : WORD_MAX_CHARS);
}
