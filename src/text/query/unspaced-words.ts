import { tha } from "stopword/src/stopwords_tha.js";
import { zho } from "stopword/src/stopwords_zho.js";
import { functionWords, simplifiedOf } from "../../../native/words.ts";
import { countCharacters } from "./characters.ts";

/**
 * The words of a query in scripts without spaces, and which of them are function words. Documents are indexed by pairs
 * of neighbouring characters, so that a word is found regardless of the segmentation around it. Many pairs of a
 * question are chance: they reach from one word into the next, or from a noun into its particle. They are rare, and
 * would outweigh the words.
 */

/** A word of a text, in UTF-16 code units. */
interface Word {
  readonly start: number;
  readonly end: number;
  readonly isFunctional: boolean;
  /** True for one character, which does not have a pair of its own. */
  readonly isSingle: boolean;
}

/** The script of a word selects the language of its segmentation. This language only decides on ties. */
const segmenter = new Intl.Segmenter("und", { granularity: "word" });

/** Words of questions in general, in addition to function words: use, method, tell, know. */
const OF_QUESTIONS = `使用 用 用法 方法 告诉 告訴 知道 想要 哪個 能夠 关于 關於 有沒有 是什麼
  起作用 作用 生效 有效 奏效
  使い方 やり方 仕方 使い 使う 使っ 知り 方 場合 時 事 為 사용 방법 알고 통해 관한 관해 대하여 대해서
  ใช้ ใช้งาน วิธี วิธีการ อะไร อย่าง อย่างไร ไร ยังไง ทำไม ทำ ทำงาน ฉัน ผม ดิฉัน คุณ เรา ของฉัน ได้ ไหม มั้ย หรือไม่ คืออะไร ไหน เมื่อไร เมื่อไหร่ ที่ไหน
  ใคร ช่วย หน่อย ครับ ค่ะ คะ นะ ต้องการ อยาก สามารถ เพราะ เพราะอะไร เกี่ยวกับ สำหรับ หมายถึง`;

/** Places of use, as in `在我的网站中` (in my website). Before a word of WITHIN they count as function words. */
const PLACES = new Set("项目 专案 网站 站点 网页 工程 程序 应用 电脑".split(" "));
const WITHIN = new Set([..."中里上内"]);

/** Particles and endings that follow a noun or the stem of a verb in Korean, the longer ones first. */
const KOREAN_ENDINGS =
  `은 는 이 가 을 를 의 에 에서 에서는 에는 에게 에게서 께 한테 으로 로 으로는 로는 으로서 로서 으로써 로써 와 과
  와는 과는 랑 이랑 하고 도 만 까지 부터 마다 조차 마저 밖에 처럼 보다 이나 나 이란 란 이라는 라는 이라고 라고 에도 에만 에서도 들 들은 들을
  들이 들의 인가요 인가 입니까 입니다 이다 이며 이면 이고 이에요 예요 하다 하는 하는지 하나요 합니까 합니다 하세요 하십시오 해요 했다 했던
  하여 하여야 하기 하면 하려면 할 한 함 해 해서 해야 되는 되나요 됩니까 됩니다 된 될 되다 되어 되지 되면 하지 하는데 시키는 시킵니다
  어요 아요 나요 습니다 습니까 는지 려면 으려면 기 할까요 할까 인지`
    .split(/\s+/)
    .toSorted((a, b) => b.length - a.length);

/** Endings that may follow a noun of one syllable. With another ending the syllable would form a word. */
const AFTER_SYLLABLE = new Set(["은", "는", "을", "를", "의", "에", "란", "이란"]);

const { ja = "", ko = "", zh = "" } = functionWords;
/** In simplified characters. */
const FUNCTIONAL = new Set(
  [...zho, ...tha, ...`${ja} ${ko} ${zh} ${OF_QUESTIONS}`.split(/\s+/)].map(simplifiedOf),
);

/** Segments of hiragana only, which are mostly particles, endings and auxiliaries of Japanese. */
const HIRAGANA = /^[\p{sc=Hira}ー]+$/u;
const HANGUL = /^\p{sc=Hang}{2,}$/u;

function wordOf(text: string, start: number, isFunctional: boolean): Word {
  const isSingle = countCharacters(text) === 1;
  return { start, end: start + text.length, isFunctional, isSingle };
}

function isEnding(segment: string, ending: string): boolean {
  if (!segment.endsWith(ending)) return false;
  const stem = segment.length - ending.length;
  return stem > 1 || (stem === 1 && AFTER_SYLLABLE.has(ending));
}

/** A word of a dictionary; a Korean one without its ending. */
function wordsOf(segment: string, start: number): Word[] {
  if (FUNCTIONAL.has(simplifiedOf(segment)) || HIRAGANA.test(segment))
    return [wordOf(segment, start, true)];
  const ending = HANGUL.test(segment)
    ? KOREAN_ENDINGS.find((each) => isEnding(segment, each))
    : undefined;
  if (ending === undefined) return [wordOf(segment, start, false)];
  const stem = segment.slice(0, -ending.length);
  return [wordOf(stem, start, FUNCTIONAL.has(stem)), wordOf(ending, start + stem.length, true)];
}

/** The words of a text in scripts without spaces. */
export class UnspacedWords {
  readonly #words: Word[] = [];

  constructor(text: string) {
    let place: string | undefined;
    for (const { segment, index, isWordLike } of segmenter.segment(text)) {
      const written = simplifiedOf(segment);
      if (place !== undefined && WITHIN.has(written)) {
        this.#words.push(wordOf(place, (this.#words.pop() as Word).start, true));
      }
      place = PLACES.has(written) ? segment : undefined;
      this.#words.push(...(isWordLike ? wordsOf(segment, index) : [wordOf(segment, index, true)]));
    }
  }

  /** True if a pair of characters, or one, is not a part of a content word. */
  isChance(start: number, end: number): boolean {
    const first = this.#wordAt(start);
    const last = this.#wordAt(end - 1);
    if (first === undefined || last === undefined) return false;
    if (first.isFunctional || last.isFunctional) return true;
    // Dictionaries lack words: a remaining single character belongs to its neighbours.
    return first !== last && !first.isSingle && !last.isSingle;
  }

  /** The character at a position, if it is a word and its neighbours are function words or missing. */
  loneWordAt(position: number): { start: number; end: number } | undefined {
    const at = this.#words.findIndex(({ start, end }) => position >= start && position < end);
    const word = this.#words[at];
    if (word === undefined || !word.isSingle || word.isFunctional) return undefined;
    const isAlone = (next: Word | undefined) => next === undefined || next.isFunctional;
    return isAlone(this.#words[at - 1]) && isAlone(this.#words[at + 1]) ? word : undefined;
  }

  #wordAt(position: number): Word | undefined {
    return this.#words.find(({ start, end }) => position >= start && position < end);
  }
}
