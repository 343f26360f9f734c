import type { ComponentChildren } from "preact";

/**
 * A text with all occurrences of words marked. The longest word is first, so that a word is not marked only in part.
 */
export function marked(text: string, words: readonly string[]): ComponentChildren {
  if (words.length === 0) return text;
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const parts = text.split(new RegExp(`(${escaped.join("|")})`, "i"));
  return parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part));
}
