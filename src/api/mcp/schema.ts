import { type Static, Type } from "@sinclair/typebox";
import { anyObject, integer, text } from "../../domain/schemas.ts";

const jsonrpc = Type.Literal("2.0", { description: "The version of JSON-RPC." });
const id = Type.Union(
  [
    Type.String(),
    Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  ],
  { description: "Identifies the request; the response repeats it." },
);
const method = text("The method, such as `tools/call`.");
const params = Type.Optional(anyObject("The parameters of the method."));

/** One message of a client. A server without sessions asks nothing, so it expects no responses. */
export const McpMessage = Type.Union(
  [
    Type.Object(
      { jsonrpc, id, method, params },
      { additionalProperties: false, description: "A request." },
    ),
    Type.Object(
      { jsonrpc, method, params },
      { additionalProperties: false, description: "A notification, which has no response." },
    ),
  ],
  {
    title: "McpMessage",
    description: "One message of the Model Context Protocol; batches are not accepted.",
    errorMessage: "must be one JSON-RPC 2.0 request or notification",
  },
);
export type McpMessage = Static<typeof McpMessage>;

export const McpAnswer = Type.Union(
  [
    Type.Object(
      {
        jsonrpc,
        id,
        result: anyObject("The result, as the method defines it."),
      },
      { description: "The request was carried out, although a tool may report an error." },
    ),
    Type.Object(
      {
        jsonrpc,
        id,
        error: Type.Object(
          {
            code: integer("The code of JSON-RPC."),
            message: text("The fault of the request."),
            data: Type.Optional(Type.Unknown({ description: "Details." })),
          },
          { description: "The reason for the missing result." },
        ),
      },
      { description: "The request is not one that the service can carry out." },
    ),
  ],
  { title: "McpAnswer", description: "The response to a request." },
);

/** The versions of the protocol that the SDK supports, newest first. */
const MCP_PROTOCOL_VERSIONS = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
] as const;

export const McpHeaders = Type.Object({
  "MCP-Protocol-Version": Type.Optional(
    Type.Union(
      MCP_PROTOCOL_VERSIONS.map((version) => Type.Literal(version)),
      { description: "The version that `initialize` agreed on.", examples: ["2025-06-18"] },
    ),
  ),
});
