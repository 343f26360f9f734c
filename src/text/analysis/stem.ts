import { stem as porter2 } from "porter2";
import { STEMS_CACHED } from "../../shared/limits.ts";

const STEM_MIN_CHARS = 3;
const ASCII_WORD = /^[a-z]+$/;
/** British spelling: organise, organisation. Not revise or precise, whose nouns end in -ision. */
const BRITISH = /^([a-z]{2,}(?:[abd-uw-z]|ic))is(es?|ed|ers?|ing|ations?|ational)$/;

/**
 * The stem of an English word by the Snowball algorithm (Porter 2). It only groups the forms of a
 * word: a form with the same stem counts less than the word itself, so that words of other languages
 * lose little when they share a stem. Words with other than ASCII letters are their own stem.
 */
export function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (word.length < STEM_MIN_CHARS || !ASCII_WORD.test(word)) return word;
  if (stems.size >= STEMS_CACHED) stems.clear();
  // A copy, because a substring would keep the long string it was cut from in memory.
  const own = Buffer.from(word).toString("latin1");
  const root = porter2(own.replace(BRITISH, "$1iz$2"));
  stems.set(own, root);
  return root;
}

/** Stems of recent words on this thread: most words of a segment are in the next one too. */
const stems = new Map<string, string>();
