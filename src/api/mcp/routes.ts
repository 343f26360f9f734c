import type { CallToolResult, ListToolsResult } from "@modelcontextprotocol/sdk/types.js";
import { Type } from "@sinclair/typebox";
import { withRounded } from "../../domain/json/opaque.ts";
import { parseJson } from "../../domain/json/parse.ts";
import { Problem, problemBody } from "../../domain/problem/problem.ts";
import type { ProblemBody } from "../../domain/problem/schema.ts";
import { textOf } from "../../http/load/large-answers.ts";
import { plainSchema } from "../../http/openapi/json-schema.ts";
import { type Operation, operation } from "../../http/operation.ts";
import type { HttpContext } from "../../http/pipeline.ts";
import { basePathOf } from "../../http/request.ts";
import { conditionalText } from "../../http/respond.ts";
import { guidePages } from "../../http/static/guides.ts";
import { TEXT_PAGE_HEADERS } from "../../http/static/text-page.ts";
import { lacksNextPage } from "../../query/stored-cursors.ts";
import { type CallOperation, type Message, operationCaller } from "./call-operation.ts";
import { fileLinks, RESOURCE_OPERATIONS } from "./resource-uris.ts";
import { McpAnswer, McpHeaders, McpMessage } from "./schema.ts";
import type { OperationCall, Tool, ToolArguments } from "./tool.ts";
import { TOOLS } from "./tools.ts";

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
function toolCaller(callOperation: CallOperation, baseUrl: string) {
  return async (tool: Tool, args: ToolArguments, message: Message): Promise<CallToolResult> => {
    const wanted = wantedBy(tool, args);
    if (wanted instanceof Problem)
      return toolError(problemBody(wanted, baseUrl, message.requestId));
    return await toolResult(tool, args, await callOperation(wanted, message));
  };
}

/** Names of this machine, which a browser treats as different origins. */
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

const EXAMPLE_MESSAGE: McpMessage = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "lookup", arguments: { project_reference: "demo", query: "snapshots" } },
};

const EXAMPLE_ANSWER = {
  jsonrpc: "2.0",
  id: 1,
  result: {
    isError: true,
    content: [
      { type: "text", text: "project-not-found: No such project is visible to this caller." },
    ],
  },
};

/** The tools as clients list them, with the schemas of the operations. */
function toolList(operations: readonly Operation[]): ListToolsResult {
  const listed = ({ name, title, description, input, operationIds: [id], excerpt }: Tool) => ({
    name,
    title,
    description,
    inputSchema: plainSchema(input),
    outputSchema: plainSchema(
      excerpt?.output ??
        operations.find((operation) => operation.id === id)?.response ??
        Type.Object({}),
    ),
    annotations: { readOnlyHint: true, openWorldHint: false },
  });
  return { tools: TOOLS.map(listed) } as ListToolsResult;
}

/**
 * The answer to a client that asks for a stream: 405, as the protocol requires of a server without streams. Browsers
 * get the guide.
 */
function streamOperation({ baseUrl }: HttpContext): Operation {
  const guide = guidePages(basePathOf(baseUrl)).get("/docs/guides/mcp");
  return operation({
    id: "openMcpStream",
    method: "GET",
    path: "/mcp",
    tag: "Assistants",
    summary: "Ask for a stream of messages (not offered)",
    description:
      "A client of the Model Context Protocol may ask here for messages that the server sends of its own accord. This " +
      "one sends none and has no sessions, so the answer is 405 with `Allow: POST`, as the protocol wants it, whatever " +
      "the credential is. Callers who prefer `text/html`, as browsers do, get the guide to connecting assistants.",
    extension: true,
    credential: "none",
    permission: null,
    problems: ["method-not-allowed"],
    conditional: true,
    responseHeaders: {
      "Cache-Control": { description: "`no-cache`: caches ask whether the page has changed." },
    },
    page: async ({ request }) =>
      conditionalText(request, (await guide?.()) ?? "", TEXT_PAGE_HEADERS),
    handle: () => {
      throw new Problem("method-not-allowed", { headers: { allow: "POST" } });
    },
  });
}

/** The Model Context Protocol for assistants, whose tools run `operations`. */
export function mcpOperations(
  operations: readonly Operation[],
  context: HttpContext,
  corsOrigins: readonly string[],
): Operation[] {
  return [messageOperation(operations, context, corsOrigins), streamOperation(context)];
}

function messageOperation(
  operations: readonly Operation[],
  context: HttpContext,
  corsOrigins: readonly string[],
): Operation {
  const requireOrigin = originCheck(context.baseUrl, corsOrigins);
  const list = toolList(operations);
  const tools = new Map(TOOLS.map((tool) => [tool.name, tool]));
  const ids = new Set([...TOOLS.flatMap((tool) => tool.operationIds), ...RESOURCE_OPERATIONS]);
  const callOperation = operationCaller(operations, ids, context);
  const callTool = toolCaller(callOperation, context.baseUrl);
  return operation({
    id: "callMcp",
    method: "POST",
    path: "/mcp",
    tag: "Assistants",
    summary: "Model Context Protocol for assistants",
    description:
      "The streamable HTTP transport, without sessions: one message per request, answered in JSON. " +
      "The tools `lookup`, `search`, `list_projects`, `list_files` and `read_file` run the operations of " +
      "the same purpose, with the caller's credential, permissions and projects. Their problems are tool " +
      "errors. The files are also resources, `tessera://{project}/{path}`.",
    extension: true,
    permission: null,
    sheddable: true,
    headers: McpHeaders,
    body: McpMessage,
    bodyExample: EXAMPLE_MESSAGE,
    response: McpAnswer,
    responseExample: EXAMPLE_ANSWER,
    emptyStatuses: { 202: "A notification was accepted. The answer has no body." },
    problems: ["permission-denied"],
    async handle({ request, requestId, body }) {
      requireOrigin(request);
      const message = { request, requestId };
      // The SDK takes longer to load than the rest of the HTTP layer, so it is loaded when it is used.
      const [{ answerMessage }, { Resources }] = await Promise.all([
        import("./server.ts"),
        import("./resources.ts"),
      ]);
      const resources = new Resources(callOperation);
      return await answerMessage(request, body, {
        list,
        tools,
        call: (tool, args) => callTool(tool, args, message),
        templates: resources.templates,
        listResources: (cursor) => resources.list(cursor, message),
        readResource: (uri) => resources.read(uri, message),
      });
    },
  });
}

function ownOrigins(baseUrl: string): string[] {
  const url = new URL(baseUrl);
  const names = LOOPBACK.includes(url.hostname) ? LOOPBACK : [url.hostname];
  return names.map((name) => new URL(`${url.protocol}//${name}:${url.port}`).origin);
}

/**
 * Refuses messages from pages of other origins than the service's own and those that are allowed, so
 * that no page reaches the service of a machine under a name of its own. Only browsers send an origin.
 */
function originCheck(baseUrl: string, corsOrigins: readonly string[]): (request: Request) => void {
  const allowed = new Set([...ownOrigins(baseUrl), ...corsOrigins]);
  return (request) => {
    const origin = request.headers.get("origin");
    if (origin === null || allowed.has(origin)) return;
    throw new Problem("permission-denied", {
      detail:
        "Pages of this origin may not call this operation. CORS_ORIGINS names those that may.",
    });
  };
}
