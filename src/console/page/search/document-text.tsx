import { useEffect, useRef } from "preact/hooks";
import type { Params } from "../base/router.ts";
import type { Schemas } from "../base/service.ts";
import { Empty } from "../parts/states.tsx";
import type { Found } from "./ask.ts";
import { markedWords } from "./marked.tsx";
import { RENDERED_MAX_CHARS, rendered } from "./rendered.tsx";

type File = Schemas["File"];

/** True if a file is shown rendered, not as its stored text. */
export const isRendered = ({ path, content, headings }: File): boolean =>
  content !== null &&
  content.length <= RENDERED_MAX_CHARS &&
  (headings.length > 0 || /\.(?:md|markdown|mdx)$/i.test(path));

/** The matched words of the passage, longest first, so that a word is not marked only in part. */
function wordsOf(opened: Found | undefined): string[] {
  const { text = "", matches = [] } = opened?.highlight ?? {};
  const words = matches.map(([start, end]) => text.slice(start, end).toLowerCase());
  return [...new Set(words)].sort((a, b) => b.length - a.length);
}

interface DocumentTextProps {
  readonly file: File;
  /** The index of the opened chunk; empty without one. */
  readonly chunk: string;
  readonly opened: Found | undefined;
  /** The parameters of links to other files; absent to show the stored text. */
  readonly links: Params | undefined;
}

/**
 * The text of the file with the opened chunk marked and in view, as it is stored or as rendered Markdown. Its contents
 * are neither run nor loaded.
 */
export function DocumentText({ file, chunk, opened, links }: DocumentTextProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const of = box.current;
    const passage = of?.querySelector(".passage mark") ?? of?.querySelector(".passage");
    if (!of || !passage) return;
    const top = passage.getBoundingClientRect().top - of.getBoundingClientRect().top;
    of.scrollTop += top - of.clientHeight / 4;
  }, [file.version_id, chunk, links !== undefined]);
  const text = file.content ?? opened?.chunk?.content;
  if (text === undefined) return <Empty title="This file was imported without its text." />;
  const here = file.chunks.find(({ index }) => String(index) === chunk);
  // Without the text of the file, that of the chunk is all.
  const all = { start_offset: 0, end_offset: text.length };
  const { start_offset: start = 0, end_offset: end = 0 } =
    file.content === null ? all : (here ?? {});
  const words = wordsOf(opened);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach scrolling content
    <section class="document-text" ref={box} tabIndex={0} aria-label="Text of the document">
      {links !== undefined && isRendered(file) ? (
        <div class="rendered">{rendered(text, { path: file.path, links, start, end, words })}</div>
      ) : (
        <pre>
          {text.slice(0, start)}
          {end > start && <span class="passage">{markedWords(text.slice(start, end), words)}</span>}
          {text.slice(end)}
        </pre>
      )}
    </section>
  );
}
