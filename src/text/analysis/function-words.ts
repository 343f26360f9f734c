import {
  ara,
  ces,
  dan,
  fin,
  heb,
  hin,
  ind,
  ita,
  nld,
  nob,
  pol,
  por,
  rus,
  spa,
  swe,
  tur,
  ukr,
  vie,
} from "stopword";
import { tokenize } from "./tokenize.ts";

const ENGLISH = `a about above after again against all also am among an and any are as at be because been
  before being between both but by can cannot could did do does doing down during each either few for
  from further had has have having he her here hers him his how however i if in into is it its itself
  just may me might more most must my neither no nor not of off on once only or other our ours out over
  own per same shall she should since so some such than that the their theirs them themselves then
  there therefore these they this those through thus to too under until up upon us very via was we were
  what when where whether which while who whom whose why will with within without would yet you your`;

const GERMAN = `aber als am an auch auf aus bei beim bis da damit dann das dass dem den denn der des die
  dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es für
  gegen haben hat hatte hier ich ihr ihre im in ist ja kann kein keine können man mich mir mit muss nach
  nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so soll sollen sowie über um und uns
  unter vom von vor wann warum was weil welche welchem welchen welcher welches wenn wer werden wie
  wieder wir wird wo wurde wurden zu zum zur zwischen`;

const FRENCH = `à au aux avec ce ces cet cette ceux chez comme comment dans de des donc dont du elle elles
  en entre est et être eu fait il ils je la le les leur leurs lui mais me même mes mon ne nos notre nous
  on ont ou où par pas peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se
  ses si son sont sous sur ta te tes ton tu un une vos votre vous y`;

/** The lists of a library, for the languages that separate words. */
const OTHERS = [
  ...[ara, ces, dan, fin, heb, hin, ind, ita, nld],
  ...[nob, pol, por, rus, spa, swe, tur, ukr, vie],
].map((words) => words.join(" "));

/** As tokens, so that they compare to the words of a query. They are made for the first query. */
let languages: ReadonlyArray<ReadonlySet<string>> | undefined;

/**
 * The words that say how a question is put, not what it is about: the function words of the language
 * that has most of them in the query, because a function word of one language can be a subject in
 * another (English `die`, German `die`). The first language wins a tie.
 */
export function functionWords(words: readonly string[]): ReadonlySet<string> {
  let best: ReadonlySet<string> = new Set();
  let most = 0;
  languages ??= [ENGLISH, GERMAN, FRENCH, ...OTHERS].map((list) => new Set(tokenize(list)));
  for (const language of languages) {
    const count = words.filter((word) => language.has(word)).length;
    if (count <= most) continue;
    best = language;
    most = count;
  }
  return best;
}
