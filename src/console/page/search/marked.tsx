import type { ComponentChildren } from "preact";
import type { Schemas } from "../base/service.ts";

/** The text of a snippet, its matches marked by their offsets. */
export function markedSnippet({ text, matches }: Schemas["Snippet"]): ComponentChildren {
  const starts = matches.map(([start = 0, end = 0], index) => [
    text.slice(matches[index - 1]?.[1] ?? 0, start),
    <mark key={start}>{text.slice(start, end)}</mark>,
  ]);
  return [starts, text.slice(matches.at(-1)?.[1] ?? 0)];
}

/**
 * A text with all occurrences of words marked. The longest word is first, so that a word is not marked only in part.
 */
export function markedWords(text: string, words: readonly string[]): ComponentChildren {
  if (words.length === 0) return text;
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const parts = text.split(new RegExp(`(${escaped.join("|")})`, "i"));
  return parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part));
}
