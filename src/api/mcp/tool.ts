import type { TObject } from "@sinclair/typebox";

/** The call of an operation that answers the call of a tool. */
export interface OperationCall {
  readonly operationId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Not sent to operations that only read. */
  readonly body?: unknown;
}

export type ToolArguments = Readonly<Record<string, unknown>>;

/** A file as the answers of operations name it. */
export interface NamedFile {
  readonly path: string;
  readonly title?: string | null;
}

/** A tool for assistants. Its arguments are the inputs of the operations that answer it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: TObject;
  /** The ids of the operations that answer it. They have the same response schema. */
  readonly operationIds: readonly [string, ...string[]];
  /** The call that the arguments ask for. Throws `validation-failed` if they name no operation. */
  callOf(args: ToolArguments): OperationCall;
  /** The files that an answer is about, to which the result links. Absent: none. */
  filesOf?(answer: Readonly<Record<string, unknown>>): NamedFile[];
  /** Shortens an answer that is too long for an assistant. Absent: the answer as it is. */
  readonly excerpt?: {
    readonly output: TObject;
    of(answer: unknown, args: ToolArguments): object;
  };
}
