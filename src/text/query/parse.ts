import { countCharacters } from "../analysis/characters.ts";
import { isUnspaced } from "../analysis/folding.ts";
import { rawOf } from "../analysis/raw.ts";
import { tokenize, tokenSpans } from "../analysis/tokenize.ts";
import { ROLE, type Role, UnspacedWords } from "./unspaced-words.ts";

interface ParsedWord {
  text: string;
  /** How it is written, with the marks that tokens do without. */
  raw: string;
  /** Whether it may be unfinished, so that longer words that begin with it match as well. */
  isPrefix: boolean;
  /** Whether it is one character of a script without spaces: pairs of characters that begin with it have it. */
  isCharacter: boolean;
  /** How often it is in the query. What a question names twice matters twice. */
  count: number;
  /** Of a pair of characters, what it has to do with the words of the query. */
  role: Role;
}

/** The distinct words of a query in the order in which they first occur. */
export function parseQuery(query: string): ParsedWord[] {
  const words = new Map<string, ParsedWord>();
  const tokens = tokensOf(query);
  tokens.forEach(({ text, raw, role, isSingle }, i) => {
    const word = words.get(text) ?? {
      text,
      raw,
      isPrefix: false,
      isCharacter: isSingle,
      count: 0,
      role,
    };
    words.set(text, word);
    word.count++;
    if (role < word.role) word.role = role;
    if (i === tokens.length - 1 && !isSingle) word.isPrefix = true;
  });
  return [...words.values()];
}

interface Token {
  readonly text: string;
  readonly raw: string;
  readonly role: Role;
  /** Whether it is one character of a script without spaces. */
  readonly isSingle: boolean;
}

function tokensOf(query: string): Token[] {
  const spans = tokenSpans(query);
  const tokens: Token[] = [];
  let unspaced: UnspacedWords | undefined;
  let previous = "";
  for (let i = 0; i < spans.length; i += 3) {
    const [start, end, text] = spans.slice(i, i + 3) as [number, number, string];
    const before = previous;
    previous = text;
    if (!isUnspaced(text)) {
      const written = query.slice(start, end);
      const raw = written === text ? text : rawOf(written);
      tokens.push({ text, raw, role: ROLE.content, isSingle: false });
      continue;
    }
    unspaced ??= new UnspacedWords(query);
    const lone = unspaced.loneWordAt(start);
    if (lone !== undefined) {
      const [own] = tokenize(query.slice(lone.start, lone.end));
      if (own !== undefined)
        tokens.push({ text: own, raw: own, role: ROLE.content, isSingle: true });
    }
    const isSingle = countCharacters(text) === 1;
    // The last token of an unspaced run repeats the second character of the pair before it.
    if (isSingle && (lone !== undefined || isTailOf(before, text))) continue;
    tokens.push({ text, raw: text, role: unspaced.roleOf(start, end), isSingle });
  }
  return tokens;
}

function isTailOf(pair: string, character: string): boolean {
  return isUnspaced(pair) && pair.endsWith(character);
}
