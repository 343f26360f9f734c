import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { textOf } from "../../http/load/large-answers.ts";
import type { Operation } from "../../http/operation.ts";
import { bindOperation, type HttpContext } from "../../http/pipeline.ts";
import { JSON_TYPE } from "../../http/respond.ts";
import { Problem, type ProblemBody, problemBody } from "../../problem/problem.ts";
import { withRounded } from "../../shared/json/opaque.ts";
import { parseJson } from "../../shared/json/parse.ts";
import { lacksNextPage } from "../scopes/next-page.ts";
import type { OperationCall, Tool } from "./tool.ts";
import { TOOLS } from "./tools.ts";

/** The caller's headers that the operation needs as well. */
const FORWARDED = ["authorization", "x-api-key"] as const;
/** Operations use only path and query of their URL. */
const ANY_ORIGIN = "http://localhost";

/** The call of a tool, as it arrived over HTTP. */
interface ToolCall {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly request: Request;
  readonly requestId: string;
}

const encoder = new TextEncoder();

/** The request for the operation that the arguments name, in the name of the same caller. */
function operationRequest(
  operation: Operation,
  { params, query, body }: OperationCall,
  { request, requestId }: ToolCall,
): Request {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ""),
  );
  const headers = new Headers({ "x-request-id": requestId });
  for (const name of FORWARDED) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const url = `${ANY_ORIGIN}${path}?${new URLSearchParams(query)}`;
  const { method } = operation;
  if (method === "GET") return new Request(url, { headers, signal: request.signal });
  const bytes = encoder.encode(JSON.stringify(body));
  headers.set("content-type", JSON_TYPE);
  headers.set("content-length", String(bytes.byteLength));
  return new Request(url, { method, headers, body: bytes, signal: request.signal });
}

/** The call of an operation that the arguments ask for, or the problem that they name none. */
function wantedBy({ tool, args }: ToolCall): OperationCall | Problem {
  try {
    const call = tool.callOf(withRounded(tool.input, args) as typeof args);
    // A URL cannot have half of a surrogate pair, and so a parameter of an operation never has.
    const params = Object.entries(call.params).map(([name, value]) => [name, value.toWellFormed()]);
    return { ...call, params: Object.fromEntries(params) as Record<string, string> };
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

/** Text and structure are the same JSON: older clients only read the text. */
function toolResult(text: string, notes: readonly string[] = []): CallToolResult {
  return {
    content: [text, ...notes].map((each) => ({ type: "text", text: each })),
    structuredContent: parseJson(text) as Record<string, unknown>,
  };
}

/** What the headers of an answer say that its body does not. */
function notesOf({ headers }: Response): string[] {
  if (!lacksNextPage(headers)) return [];
  return ["There are more results, but no cursor for them at present. Call the tool again later."];
}

/**
 * Answers calls of tools by running the operations that they stand for, through the same pipeline
 * as requests over HTTP: with its checks, metrics and audit log. Problems become tool errors.
 */
export function toolCaller(operations: readonly Operation[], context: HttpContext) {
  const named = new Set(TOOLS.flatMap((tool) => tool.operationIds));
  const runners = new Map(
    operations
      .filter(({ id }) => named.has(id))
      .map((operation) => [operation.id, { operation, run: bindOperation(operation, context) }]),
  );
  return async (call: ToolCall): Promise<CallToolResult> => {
    const wanted = wantedBy(call);
    if (wanted instanceof Problem)
      return toolError(problemBody(wanted, context.baseUrl, call.requestId));
    const found = runners.get(wanted.operationId);
    if (found === undefined) throw new Error(`no operation ${wanted.operationId}`);
    const request = operationRequest(found.operation, wanted, call);
    const response = await found.run(request, { ...wanted.params });
    const text = await textOf(response);
    if (!response.ok) return toolError(JSON.parse(text) as ProblemBody);
    const { excerpt } = call.tool;
    if (excerpt === undefined) return toolResult(text, notesOf(response));
    return toolResult(JSON.stringify(excerpt.of(parseJson(text), call.args)));
  };
}
