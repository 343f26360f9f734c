import { useEffect, useRef } from "preact/hooks";
import { usePause } from "../base/resource.ts";
import { changeParams } from "../base/router.ts";
import { Icon } from "../parts/icon.tsx";
import { OTHER_QUESTION, type Question } from "./question.ts";

/** Pause after a letter: long enough to skip the letters of a word, short enough to seem immediate. */
const PAUSE_MS = 150;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");

/** The search box, which searches while the user types. `/` moves the focus here, the down arrow to the results. */
export function SearchBox({ question: { query } }: { question: Question }) {
  const input = useRef<HTMLInputElement>(null);
  /** The last query of the box, to distinguish it from a query in a changed address. */
  const asked = useRef(query);
  useEffect(() => {
    if (query === asked.current || input.current === null) return;
    asked.current = query;
    input.current.value = query;
  }, [query]);
  const ask = usePause(({ value }: HTMLInputElement) => {
    const typed = value.trim();
    if (typed === asked.current) return;
    asked.current = typed;
    changeParams({ ...OTHER_QUESTION, q: typed }, { replace: true });
  }, PAUSE_MS);
  useEffect(() => {
    input.current?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.select();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <search class="search-box">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        aria-label="Query"
        placeholder="Search passages"
        autocomplete="off"
        spellcheck={false}
        enterkeyhint="search"
        maxLength={500}
        defaultValue={query}
        onInput={(event) => ask(event.currentTarget)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          document.querySelector<HTMLElement>(".result a")?.focus();
        }}
      />
      <span class="key" aria-hidden="true">
        /
      </span>
    </search>
  );
}
