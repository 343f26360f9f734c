import { countCharacters } from "../analysis/characters.ts";
import { isUnspaced } from "../analysis/folding.ts";
import { tokenize } from "../analysis/tokenize.ts";

interface ParsedWord {
  text: string;
  /** Whether longer words that start with it match as well. */
  isPrefix: boolean;
  /** How often it is in the query. What a question names twice matters twice. */
  count: number;
}

/** The distinct words of a query in the order in which they first occur. */
export function parseQuery(query: string): ParsedWord[] {
  const tokens = tokenize(query);
  const words: ParsedWord[] = [];
  const positions = new Map<string, number>();
  tokens.forEach((text, i) => {
    const isSingle = isUnspaced(text) && countCharacters(text) === 1;
    // The last token of an unspaced run repeats the second character of the pair before it.
    if (isSingle && isTailOf(tokens[i - 1], text)) return;
    let at = positions.get(text);
    if (at === undefined) {
      at = words.length;
      positions.set(text, at);
      words.push({ text, isPrefix: false, count: 0 });
    }
    const word = words[at] as ParsedWord;
    word.count++;
    if (i === tokens.length - 1 || isSingle) word.isPrefix = true;
  });
  return words;
}

function isTailOf(pair: string | undefined, character: string): boolean {
  return pair !== undefined && isUnspaced(pair) && pair.endsWith(character);
}
