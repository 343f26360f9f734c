import { useState } from "preact/hooks";
import { useAction } from "../base/action.ts";
import { counted, duration, number } from "../base/format.ts";
import type { Project } from "../base/projects.ts";
import { changeParams, hrefOf, parseRoute } from "../base/router.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Marked } from "../parts/marked.tsx";
import { Empty, Failure } from "../parts/states.tsx";
import { type Found, isAsked, type Results } from "./ask.ts";
import { closenessOf, waysOf } from "./modes.ts";
import type { Mode, Question } from "./question.ts";
import { SearchCode } from "./search-code.tsx";

/** Maximum characters of a chunk that was found by a vector, which does not have a snippet. */
const PREVIEW_CHARS = 280;

/** Lower scores are shown as weak, as by the command `search`. */
const WEAK_SCORE = 0.3;

interface Opened {
  readonly file: string;
  readonly chunk: string;
}

interface ResultListProps {
  readonly question: Question;
  readonly project: Project | undefined;
  readonly results: Results;
  /** True while the results of another question are loading. */
  readonly stale: boolean;
  readonly opened: Opened;
  readonly onMore: () => Promise<void>;
}

function summaryOf(project: Project | undefined, { total, atLeast, mode, ms }: Results): string {
  if (mode === undefined) return counted(total, "file");
  const matches = atLeast
    ? `at least ${number(total)} matches`
    : counted(total, "match", "matches");
  return `${matches} ${waysOf(project)[mode as Mode] ?? ""} in ${duration(ms)}`;
}

/** Moves the focus between results with the arrows, and back to the box from the first one. */
function onArrow(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const links = [...document.querySelectorAll<HTMLElement>(".result a")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  event.preventDefault();
  const box = document.querySelector<HTMLElement>(".search-box input");
  (at + step < 0 ? box : links[at + step])?.focus();
}

export function ResultList(props: ResultListProps) {
  const { question, project, results, stale, opened, onMore } = props;
  const [showCode, setShowCode] = useState(false);
  const more = useAction(onMore);
  const { found } = results;
  return (
    <>
      <div class="summary">
        <p class="muted small" role="status">
          {summaryOf(project, results)}
        </p>
        {isAsked(question) && (
          <Button kind="quiet" onClick={() => setShowCode(true)}>
            Show as code
          </Button>
        )}
      </div>
      {found.length === 0 && <NothingFound question={question} ways={waysOf(project)} />}
      <ol class={stale ? "results stale" : "results"} aria-label="Results" onKeyDown={onArrow}>
        {found.map((each) => (
          <Result
            key={each.key}
            found={each}
            opened={isOpened(each, opened)}
            closeness={closenessOf(project)}
          />
        ))}
      </ol>
      {more.error !== undefined && <Failure error={more.error} />}
      {results.next !== null && (
        <Button onClick={more.run} disabled={more.running}>
          More results
        </Button>
      )}
      {showCode && (
        <Dialog wide title="This search as code" onClose={() => setShowCode(false)}>
          <SearchCode question={question} />
        </Dialog>
      )}
    </>
  );
}

/** Suggestions for a search without results, as buttons. */
function NothingFound({ question, ways }: { question: Question; ways: Record<Mode, string> }) {
  const { project, filter, mode, query } = question;
  const other = mode === "hybrid" ? "semantic" : "hybrid";
  return (
    <Empty title={isAsked(question) || filter !== "" ? "Nothing matches." : "No files yet."}>
      <p>
        Another word or another place may help, and{" "}
        <a href={hrefOf(["projects", project, "files"])}>further files</a>.
      </p>
      <p class="actions">
        {filter !== "" && (
          <Button onClick={() => changeParams({ filter: "" })}>Search without the filter</Button>
        )}
        {query !== "" && (
          <Button onClick={() => changeParams({ mode: other === "hybrid" ? "" : other })}>
            Search {ways[other]}
          </Button>
        )}
      </p>
    </Empty>
  );
}

const isOpened = ({ file, chunk }: Found, opened: Opened): boolean =>
  file === opened.file && (chunk === null || String(chunk.index) === opened.chunk);

interface ResultProps {
  readonly found: Found;
  readonly opened: boolean;
  readonly closeness: string;
}

function Result({ found, opened, closeness }: ResultProps) {
  const { path, params } = parseRoute(location.hash);
  const chunk = found.chunk === null ? "" : String(found.chunk.index);
  const { title, heading, highlight } = found;
  return (
    <li class="result">
      <a
        href={hrefOf(path, { ...params, file: found.file, chunk, part: "" })}
        aria-current={opened ? "true" : undefined}
      >
        <span class="result-title">
          {title ?? found.path}
          {heading && heading !== title && <span class="muted"> › {heading}</span>}
        </span>
        <span class="result-path">{found.path}</span>
        {highlight !== undefined && (
          <span class="result-text">
            <Marked of={highlight} />
          </span>
        )}
        {highlight === undefined && found.chunk !== null && (
          <span class="result-text">{found.chunk.content.slice(0, PREVIEW_CHARS)}</span>
        )}
        {found.match !== undefined && <Scores of={found.match} closeness={closeness} />}
      </a>
    </li>
  );
}

/** The score that orders the results, and its two components. */
function Scores(props: { of: NonNullable<Found["match"]>; closeness: string }) {
  const { score, scores } = props.of;
  return (
    <span class="scores">
      <span>
        score <b>{number(score, 3)}</b>
        {score < WEAK_SCORE && " weak"}
      </span>
      {scores.semantic !== null && (
        <span class="meaning">
          {props.closeness} <b>{number(scores.semantic, 3)}</b>
        </span>
      )}
      {scores.keyword !== null && (
        <span class="words">
          words <b>{number(scores.keyword, 2)}</b>
        </span>
      )}
    </span>
  );
}
