import { counted, duration, number } from "../base/format.ts";
import type { Pages } from "../base/resource.ts";
import { changeParams, hrefOf, type Route } from "../base/router.ts";
import type { Project } from "../base/service.ts";
import { Button } from "../parts/button.tsx";
import { DialogButton } from "../parts/dialog.tsx";
import { Empty, More } from "../parts/states.tsx";
import { type Found, isAsked, type Results } from "./ask.ts";
import { markedSnippet } from "./marked.tsx";
import { closenessOf, waysOf } from "./modes.ts";
import type { Mode, Question } from "./question.ts";
import { SearchCode } from "./search-code.tsx";

/** Maximum characters of a chunk that was found by a vector, which does not have a snippet. */
const PREVIEW_CHARS = 280;

/** Lower scores are shown as weak, as by the command `search`. */
const WEAK_SCORE = 0.3;

interface ResultListProps {
  readonly question: Question;
  readonly project: Project | undefined;
  readonly results: Pages<Results>;
  /** The first page of the results. */
  readonly summary: Results;
  readonly params: Route["params"];
}

function summaryOf(project: Project | undefined, { total, atLeast, mode, ms }: Results): string {
  if (mode === null) return counted(total, "file");
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

export function ResultList({ question, project, results, summary, params }: ResultListProps) {
  const { items, loading, more } = results;
  return (
    <>
      <div class="summary">
        <p class="muted small" role="status">
          {summaryOf(project, summary)}
        </p>
        {isAsked(question) && (
          <DialogButton kind="quiet" text="Show as code" title="This search as code" wide>
            {() => <SearchCode question={question} />}
          </DialogButton>
        )}
      </div>
      {items.length === 0 && <NothingFound question={question} ways={waysOf(project)} />}
      <ol class={loading ? "results stale" : "results"} aria-label="Results" onKeyDown={onArrow}>
        {items.map((found) => (
          <Result
            key={found.chunk?.id ?? found.file}
            found={found}
            params={params}
            closeness={closenessOf(project)}
          />
        ))}
      </ol>
      <More of={more} text="More results" />
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

interface ResultProps {
  readonly found: Found;
  readonly params: Route["params"];
  readonly closeness: string;
}

function Result({ found, params, closeness }: ResultProps) {
  const { file, path, title = path, heading, highlight } = found;
  const chunk = String(found.chunk?.index ?? "");
  const isOpened = file === params["file"] && (chunk === "" || chunk === params["chunk"]);
  return (
    <li class="result">
      <a
        href={hrefOf(["search"], { ...params, file, chunk, part: "" })}
        aria-current={isOpened ? "true" : undefined}
      >
        <span class="result-title">
          {title}
          {heading && heading !== title && <span class="muted"> › {heading}</span>}
        </span>
        <span class="result-path">{path}</span>
        {(highlight ?? found.chunk) && (
          <span class="result-text">
            {highlight ? markedSnippet(highlight) : found.chunk?.content.slice(0, PREVIEW_CHARS)}
          </span>
        )}
        <Scores of={found} closeness={closeness} />
      </a>
    </li>
  );
}

/** The score that orders the results, its two components, and the fields that were found. */
function Scores({ of, closeness }: { of: Found; closeness: string }) {
  const { score, scores, fields = [] } = of;
  if (score === undefined || scores === undefined) return null;
  return (
    <span class="scores">
      <span>
        score <b>{number(score, 3)}</b>
        {score < WEAK_SCORE && " weak"}
      </span>
      {scores.semantic !== null && (
        <span class="meaning">
          {closeness} <b>{number(scores.semantic, 3)}</b>
        </span>
      )}
      {scores.keyword !== null && (
        <span class="words">
          words <b>{number(scores.keyword, 2)}</b>
          {fields.length > 0 && ` in ${fields.join(", ")}`}
        </span>
      )}
    </span>
  );
}
