import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { withRounded } from "../../domain/json/opaque.ts";
import { parseJson } from "../../domain/json/parse.ts";
import { Problem, problemBody } from "../../domain/problem/problem.ts";
import type { ProblemBody } from "../../domain/problem/schema.ts";
import { textOf } from "../../http/load/large-answers.ts";
import { lacksNextPage } from "../../query/next-page.ts";
import type { CallOperation, Message } from "./call-operation.ts";
import { fileLinks } from "./resource-uris.ts";
import type { OperationCall, Tool, ToolArguments } from "./tool.ts";

/** The call of an operation that the arguments ask for, or the problem of arguments without an operation. */
function wantedBy(tool: Tool, args: ToolArguments): OperationCall | Problem {
  try {
    return tool.callOf(withRounded(tool.input, args) as ToolArguments);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** A problem in the words that an assistant needs in order to correct its call. */
function toolError(problem: ProblemBody): CallToolResult {
  const { slug, detail, errors = [], suggestion, instance } = problem;
  const lines = [
    `${slug}: ${detail}`,
    // The detail names the first field, which suffices when it is the only one.
    ...(errors.length < 2 ? [] : errors).map(({ field, message }) => `- ${field}: ${message}`),
    ...(suggestion ? [suggestion] : []),
    ...(instance ? [instance] : []),
  ];
  return { isError: true, content: [{ type: "text", text: lines.join("\n") }] };
}

/** Notes about facts that only the headers of an answer state. */
function notesOf({ headers }: Response): string[] {
  if (!lacksNextPage(headers)) return [];
  return ["There are more results, but no cursor for them at present. Call the tool again later."];
}

/** Text and structure are the same JSON: older clients only read the text. */
function textAndStructure(text: string) {
  return {
    content: [{ type: "text" as const, text }],
    structuredContent: parseJson(text) as Record<string, unknown>,
  };
}

/** The answer of an operation as the result of a tool, with links to the files that were found. */
async function toolResult(
  { excerpt, filesOf }: Tool,
  args: ToolArguments,
  response: Response,
): Promise<CallToolResult> {
  const text = await textOf(response);
  if (!response.ok) return toolError(JSON.parse(text) as ProblemBody);
  if (excerpt !== undefined) {
    return textAndStructure(JSON.stringify(excerpt.of(parseJson(text), args)));
  }
  const { content, structuredContent } = textAndStructure(text);
  const notes = notesOf(response).map((note) => ({ type: "text" as const, text: note }));
  const links = fileLinks(args, filesOf?.(structuredContent) ?? []);
  return { content: [...content, ...links, ...notes], structuredContent };
}

/** Answers calls of tools by running the operations that they stand for. Problems become tool errors. */
export function toolCaller(callOperation: CallOperation, baseUrl: string) {
  return async (tool: Tool, args: ToolArguments, message: Message): Promise<CallToolResult> => {
    const wanted = wantedBy(tool, args);
    if (wanted instanceof Problem)
      return toolError(problemBody(wanted, baseUrl, message.requestId));
    return await toolResult(tool, args, await callOperation(wanted, message));
  };
}
