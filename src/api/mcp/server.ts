import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  InitializeRequestSchema,
  ListResourcesRequestSchema,
  type ListResourcesResult,
  ListResourceTemplatesRequestSchema,
  type ListResourceTemplatesResult,
  ListToolsRequestSchema,
  type ListToolsResult,
  McpError,
  ReadResourceRequestSchema,
  type ReadResourceResult,
} from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { Problem } from "../../domain/problem/problem.ts";
import { VERSION } from "../../domain/version.ts";
import { JSON_TYPE, json } from "../../http/respond.ts";
import type { McpMessage } from "./schema.ts";
import type { Tool, ToolArguments } from "./tool.ts";

const SERVER = { name: "tessera", title: "Tessera", version: VERSION };
const INSTRUCTIONS =
  "Search over the files of projects. `search` takes a question or keywords and finds passages by meaning and by " +
  "words, `lookup` finds whole documents by their words, `read_file` reads the files that they found, and `list_files` " +
  "lists folders. All need `project_reference`, the id or slug of a project, which `list_projects` lists. Files " +
  "are also resources, `tessera://<project>/<path>`, to which results link.";

/** Made once, because making a validator takes longer than answering. A server without forms needs none. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

/** The methods with parameters. For these, an error in the words of the SDK would be a dump of its schema. */
const REQUESTS = {
  initialize: InitializeRequestSchema,
  "tools/call": CallToolRequestSchema,
  "tools/list": ListToolsRequestSchema,
  "resources/list": ListResourcesRequestSchema,
  "resources/read": ReadResourceRequestSchema,
  "resources/templates/list": ListResourceTemplatesRequestSchema,
};

/** A key that JavaScript may take for the prototype of an object. */
const PROTOTYPE = "__proto__";
/**
 * Maximum members of the parameters. All tools and methods have fewer, and the SDK takes long to check many, more than
 * once.
 */
const MEMBERS_MAX = 100;

/** The fault in the parameters of a request; undefined for valid ones and for other messages. */
function faultOf({ method, params }: McpMessage): string | undefined {
  if (!Object.hasOwn(REQUESTS, method)) return undefined;
  const { arguments: args, _meta } = (params ?? {}) as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries({ params, arguments: args, _meta })) {
    if (typeof value !== "object" || value === null) continue;
    if (Object.keys(value).length > MEMBERS_MAX) {
      return `${name}: must have at most ${MEMBERS_MAX} members`;
    }
    if (Object.hasOwn(value, PROTOTYPE)) return `${name}: must not hold ${PROTOTYPE}`;
  }
  const schema = REQUESTS[method as keyof typeof REQUESTS];
  const issue = schema.safeParse({ method, params }).error?.issues[0];
  return issue === undefined ? undefined : `${issue.path.join(".")}: ${issue.message}`;
}

/** The handlers of the requests in one message. */
interface Handlers {
  readonly list: ListToolsResult;
  readonly tools: ReadonlyMap<string, Tool>;
  call(tool: Tool, args: ToolArguments): Promise<CallToolResult>;
  readonly templates: ListResourceTemplatesResult;
  listResources(cursor: string | undefined): Promise<ListResourcesResult>;
  readResource(uri: string): Promise<ReadResourceResult>;
}

function serverOf({ list, tools, call, ...resources }: Handlers): Server {
  const server = new Server(SERVER, {
    capabilities: { tools: {}, resources: {} },
    instructions: INSTRUCTIONS,
    jsonSchemaValidator,
  });
  server.setRequestHandler(ListToolsRequestSchema, () => list);
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    const tool = tools.get(params.name);
    if (tool !== undefined) return call(tool, params.arguments ?? {});
    const known = [...tools.keys()].join(", ");
    throw new McpError(ErrorCode.InvalidParams, `Unknown tool. The tools are: ${known}.`);
  });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => resources.templates);
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) =>
    resources.listResources(params?.cursor),
  );
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) =>
    resources.readResource(params.uri),
  );
  return server;
}

/** The transport answers with an error of JSON-RPC; every error over HTTP is a problem document. */
async function refusal(response: Response): Promise<Problem> {
  const { error } = (await response.json()) as { error?: { message?: string } };
  return new Problem("validation-failed", { detail: error?.message ?? "The message is invalid." });
}

/**
 * Answers one message, without a session: server and transport exist for this message only. A notification is answered
 * 202. Throws `validation-failed` for messages that the protocol does not allow.
 */
export async function answerMessage(
  request: Request,
  message: McpMessage,
  handlers: Handlers,
): Promise<Response> {
  const fault = faultOf(message);
  if (fault !== undefined && "id" in message) {
    const error = { code: ErrorCode.InvalidParams, message: `Invalid parameters: ${fault}` };
    return json({ jsonrpc: "2.0", id: message.id, error });
  }
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = serverOf(handlers);
  // The types of the SDK do not distinguish an absent property from one that is undefined.
  await server.connect(transport as unknown as Parameters<Server["connect"]>[0]);
  try {
    const headers = new Headers({
      // The response is JSON in any case, so there is nothing to negotiate.
      accept: `${JSON_TYPE}, text/event-stream`,
      "content-type": JSON_TYPE,
    });
    const version = request.headers.get("mcp-protocol-version");
    if (version !== null) headers.set("mcp-protocol-version", version);
    const plain = new Request(request.url, { method: "POST", headers });
    const response = await transport.handleRequest(plain, { parsedBody: message });
    if (response.status >= 400) throw await refusal(response);
    return response;
  } finally {
    await server.close();
  }
}
