import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Schemas } from "../base/api.ts";
import { Empty } from "../parts/states.tsx";
import type { Found } from "./ask.ts";

type File = Schemas["File"];

/** The words that the passage was found by, longest first, so that a part of one does not go before it. */
function wordsOf(opened: Found | undefined): string[] {
  const { text = "", matches = [] } = opened?.highlight ?? {};
  const words = matches.map(([start, end]) => text.slice(start, end).toLowerCase());
  return [...new Set(words)].sort((a, b) => b.length - a.length);
}

/** A text with some words marked wherever they are. */
function marked(text: string, words: readonly string[]): ComponentChildren {
  if (words.length === 0) return text;
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const parts = text.split(new RegExp(`(${escaped.join("|")})`, "i"));
  return parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part));
}

interface DocumentTextProps {
  readonly file: File;
  /** The index of the chunk that is opened; empty for none. */
  readonly chunk: string;
  readonly opened: Found | undefined;
}

/** The file as it is stored, with the opened chunk marked and in view. It is text, whatever it contains. */
export function DocumentText({ file, chunk, opened }: DocumentTextProps) {
  const passage = useRef<HTMLElement>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const [element, place] = [passage.current, box.current];
    if (element === null || place === null) return;
    const top = element.getBoundingClientRect().top - place.getBoundingClientRect().top;
    place.scrollTop += top - place.clientHeight / 4;
  }, [file.version_id, chunk]);
  const text = file.content ?? opened?.chunk?.content;
  if (text === undefined) {
    return <Empty title="This file was imported without its text." />;
  }
  const whole = { start_offset: 0, end_offset: text.length };
  const here = file.chunks.find(({ index }) => String(index) === chunk);
  const { start_offset: start, end_offset: end } =
    file.content === null ? whole : (here ?? { start_offset: 0, end_offset: 0 });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard
    <section class="document-text" ref={box} tabIndex={0} aria-label="Text of the document">
      <pre>
        {text.slice(0, start)}
        {end > start && (
          <span class="passage" ref={passage}>
            {marked(text.slice(start, end), wordsOf(opened))}
          </span>
        )}
        {text.slice(end)}
      </pre>
    </section>
  );
}
