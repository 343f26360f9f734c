import { useEffect, useRef, useState } from "preact/hooks";
import { changeParams } from "../base/router.ts";
import { Icon } from "../parts/icon.tsx";
import { OTHER_QUESTION, type Question } from "./question.ts";

/** Pause after a letter: long enough to skip the letters of a word, short enough to seem immediate. */
const PAUSE_MS = 150;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");

/** The search box, which searches while the user types. `/` moves the focus here, the down arrow to the results. */
export function SearchBox({ question }: { question: Question }) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(question.query);
  /** The last query of the box, to distinguish it from a query in a changed address. */
  const asked = useRef(question.query);
  useEffect(() => {
    if (question.query === asked.current) return;
    asked.current = question.query;
    setText(question.query);
  }, [question.query]);
  const ask = (query: string) => {
    if (query === asked.current) return;
    asked.current = query;
    changeParams({ ...OTHER_QUESTION, q: query }, { replace: true });
  };
  useEffect(() => {
    const timer = setTimeout(() => ask(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
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
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    document.querySelector<HTMLElement>(".result a")?.focus();
  };
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
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class="key" aria-hidden="true">
        /
      </span>
    </search>
  );
}
