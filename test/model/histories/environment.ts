/** What an environment with two files is, one change after the other: files, conditions, releases and views. */
import type { Operation, Specification } from "./linearizable.ts";

export const PATHS = ["first.md", "second.md"] as const;

/** The number of the content of each file; 0 for none. */
export type Contents = readonly [number, number];

export interface Environment {
  readonly files: Contents;
  /** Frozen contents, by the name of the release. */
  readonly releases: Readonly<Record<string, Contents>>;
}

export const ENVIRONMENT: Specification<Environment> = {
  initial: { files: [0, 0], releases: {} },
  key: (state) => JSON.stringify(state),
};

/** The content that a file must have for a change of it; 0 for no file, undefined for any. */
type Condition = number | undefined;

export type Kind =
  | {
      readonly type: "put";
      readonly file: 0 | 1;
      readonly content: number;
      readonly over: Condition;
    }
  | { readonly type: "delete"; readonly file: 0 | 1; readonly over: Condition }
  | { readonly type: "import"; readonly contents: Contents }
  | { readonly type: "freeze"; readonly name: string }
  | { readonly type: "get"; readonly file: 0 | 1; readonly release?: string }
  | { readonly type: "lookup" }
  /** By vector. Contents that are newer than the change which it names may still wait for theirs. */
  | { readonly type: "search"; readonly isOld: (content: number) => boolean };

/** An answer: its status, and the contents that it has. */
export interface Answered {
  readonly status: number;
  readonly contents?: readonly number[];
}

/** The kinds of operations that never change anything. */
export const READS: readonly Kind["type"][] = ["get", "lookup", "search"];
const isChange = ({ status }: Answered) => status < 300;

function withFile({ files, releases }: Environment, file: 0 | 1, content: number): Environment {
  return { files: file === 0 ? [content, files[1]] : [files[0], content], releases };
}

const holds = ({ files }: Environment, file: 0 | 1, over: Condition) =>
  over === undefined || files[file] === over;

function effect(state: Environment, kind: Kind): Environment {
  switch (kind.type) {
    case "put":
      return holds(state, kind.file, kind.over) ? withFile(state, kind.file, kind.content) : state;
    case "delete":
      return holds(state, kind.file, kind.over) ? withFile(state, kind.file, 0) : state;
    case "import":
      return { ...state, files: kind.contents };
    case "freeze":
      if (kind.name in state.releases) return state;
      return { ...state, releases: { ...state.releases, [kind.name]: state.files } };
    default:
      return state;
  }
}

/** The status that an operation has in a state. */
function statusOf(state: Environment, kind: Kind): number {
  switch (kind.type) {
    case "put":
      if (!holds(state, kind.file, kind.over)) return 412;
      return state.files[kind.file] === 0 ? 201 : 200;
    case "delete":
      if (state.files[kind.file] === 0) return 404;
      return holds(state, kind.file, kind.over) ? 204 : 412;
    case "freeze":
      return kind.name in state.releases ? 409 : 201;
    case "get":
      return contentsOf(state, kind)[0] === undefined ? 404 : 200;
    default:
      return 200;
  }
}

/** The contents that a read answers. */
function contentsOf({ files, releases }: Environment, kind: Kind): number[] {
  if (kind.type === "lookup") return files.filter((content) => content !== 0);
  if (kind.type !== "get") return [];
  const from = kind.release === undefined ? files : releases[kind.release];
  return from === undefined || from[kind.file] === 0 ? [] : [from[kind.file]];
}

function hasContents(state: Environment, kind: Kind, contents: readonly number[]): boolean {
  if (kind.type !== "search") {
    return `${contents.toSorted()}` === `${contentsOf(state, kind).toSorted()}`;
  }
  const due = state.files.filter((content) => content !== 0 && kind.isOld(content));
  return (
    contents.every((content) => state.files.includes(content)) &&
    due.every((content) => contents.includes(content))
  );
}

/** An operation of a history. Without an answer it may have had its effect, or have it at any time. */
export function operation(
  kind: Kind,
  { called, answered, after }: Pick<Operation<Environment>, "called" | "answered" | "after">,
  answer: Answered | undefined,
  client: string,
): Operation<Environment> {
  const said = answer === undefined ? "no answer" : JSON.stringify(answer);
  return {
    called,
    answered: answer === undefined ? Number.POSITIVE_INFINITY : answered,
    ...(after === undefined ? {} : { after }),
    isRead: READS.includes(kind.type) || (answer !== undefined && !isChange(answer)),
    explains: (state) =>
      answer?.status === statusOf(state, kind) && hasContents(state, kind, answer.contents ?? []),
    effect: (state) => effect(state, kind),
    text: `${client} ${JSON.stringify(kind)}: ${said}`,
  };
}
