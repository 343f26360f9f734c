import type { Operation } from "../../http/operation.ts";
import { bindOperation, type HttpContext } from "../../http/pipeline.ts";
import { JSON_TYPE } from "../../http/respond.ts";
import type { OperationCall } from "./tool.ts";

/** The caller's headers that the operation needs as well. */
const FORWARDED = ["authorization", "x-api-key"] as const;
/** Operations use only path and query of their URL. */
const ANY_ORIGIN = "http://localhost";

/** The message of an assistant, as it arrived over HTTP. */
export interface Message {
  readonly request: Request;
  readonly requestId: string;
}

/** Runs an operation in the name of the sender of a message. */
export type CallOperation = (call: OperationCall, message: Message) => Promise<Response>;

const encoder = new TextEncoder();

/** The request for the operation, in the name of the same caller. */
function operationRequest(
  operation: Operation,
  { params, query, body }: OperationCall,
  { request, requestId }: Message,
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

/** A URL cannot have half of a surrogate pair, and so a parameter of an operation never has. */
function wellFormed(params: OperationCall["params"]): Record<string, string> {
  const parts = Object.entries(params).map(([name, value]) => [name, value.toWellFormed()]);
  return Object.fromEntries(parts) as Record<string, string>;
}

/**
 * Runs those operations through the same pipeline as requests over HTTP: with its checks, metrics and
 * audit log.
 */
export function operationCaller(
  operations: readonly Operation[],
  ids: ReadonlySet<string>,
  context: HttpContext,
): CallOperation {
  const runners = new Map(
    operations
      .filter(({ id }) => ids.has(id))
      .map((operation) => [operation.id, { operation, run: bindOperation(operation, context) }]),
  );
  return async (call, message) => {
    const found = runners.get(call.operationId);
    if (found === undefined) throw new Error(`no operation ${call.operationId}`);
    const params = wellFormed(call.params);
    const request = operationRequest(found.operation, { ...call, params }, message);
    return await found.run(request, { ...params });
  };
}
