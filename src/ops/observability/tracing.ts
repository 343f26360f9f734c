import type { Attributes, Context, Span, TextMapGetter, TextMapSetter } from "@opentelemetry/api";

/** The library, and the exporter of its spans. */
type Exporting = ReturnType<typeof import("./tracing-sdk.ts")["startExporting"]>;

/** Undefined unless tracing is configured. Requests check only this. */
let tracing: Exporting | undefined;

const HEADERS: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
};

const SETTER: TextMapSetter<Headers> = {
  set: (headers, name, value) => headers.set(name, value),
};

/** Starts tracing if there is a URL for spans. Returns a function that exports the last spans and ends tracing. */
export async function openTracing(url: string | undefined): Promise<() => Promise<void>> {
  if (url === undefined) return async () => {};
  // The library is loaded here, because the service and each of its threads should not load it without tracing.
  const { startExporting } = await import("./tracing-sdk.ts");
  const exporting = startExporting(url);
  tracing = exporting;
  return async () => {
    tracing = undefined;
    await exporting.close();
  };
}

/** The ids of the current span, for lines of the log; empty without one. */
export function traceFields(): Record<string, string> {
  const span = tracing?.api.trace.getActiveSpan()?.spanContext();
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

function fail({ api }: Exporting, span: Span, error: unknown): void {
  const { name, message } = error instanceof Error ? error : { name: "_OTHER", message: "" };
  span.setAttribute("error.type", name);
  span.setStatus({ code: api.SpanStatusCode.ERROR, message });
}

/** Runs work in a span, and ends the span on success and failure. */
async function within<T>(
  exporting: Exporting,
  span: Span,
  parent: Context,
  work: () => T | Promise<T>,
): Promise<T> {
  const { context, trace } = exporting.api;
  try {
    return await context.with(trace.setSpan(parent, span), work);
  } catch (error) {
    fail(exporting, span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** The data of a request in its span. */
interface TracedRequest {
  readonly request: Request;
  readonly requestId: string;
  readonly operation: string;
  /** The route in the form of the API document. */
  readonly route: string;
}

/** Answers a request in a span that continues the caller's trace, if it has sent a valid one. */
export function traceRequest(
  { request, requestId, operation, route }: TracedRequest,
  answer: () => Promise<Response>,
): Promise<Response> {
  if (tracing === undefined) return answer();
  const { api, tracer } = tracing;
  const parent = api.propagation.extract(api.context.active(), request.headers, HEADERS);
  const attributes = {
    "http.request.method": request.method,
    "http.route": route,
    "tessera.operation": operation,
    "tessera.request_id": requestId,
  };
  const options = { kind: api.SpanKind.SERVER, attributes };
  const span = tracer.startSpan(`${request.method} ${route}`, options, parent);
  return within(tracing, span, parent, async () => {
    const response = await answer();
    const { status } = response;
    span.setAttribute("http.response.status_code", status);
    if (status >= 500) {
      span.setAttribute("error.type", String(status));
      span.setStatus({ code: api.SpanStatusCode.ERROR });
    }
    return response;
  });
}

/** Runs work in a span with the attributes of its result, as a part of the current span. */
export function traced<T>(
  name: string,
  work: () => T | Promise<T>,
  attributesOf: (result: T) => Attributes,
): T | Promise<T> {
  if (tracing === undefined) return work();
  const span = tracing.tracer.startSpan(name);
  return within(tracing, span, tracing.api.context.active(), async () => {
    const result = await work();
    span.setAttributes(attributesOf(result));
    return result;
  });
}

/** A call of another service, in a child of the current span. */
interface TracedCall {
  /** Ends the span, with the error and its type if the call failed. */
  end(error?: unknown, type?: string): void;
  /** Runs work whose own calls are parts of this one. */
  run<T>(work: () => T): T;
}

/** Starts the span of a call; undefined when no request is being traced. */
export function startCall(name: string, attributes: () => Attributes): TracedCall | undefined {
  const exporting = tracing;
  if (exporting?.api.trace.getActiveSpan() === undefined) return undefined;
  const { context, trace, SpanKind } = exporting.api;
  const options = { kind: SpanKind.CLIENT, attributes: attributes() };
  const span = exporting.tracer.startSpan(name, options);
  return {
    end(error, type) {
      if (error !== undefined) fail(exporting, span, error);
      if (type !== undefined) span.setAttribute("error.type", type);
      span.end();
    },
    run: (work) => context.with(trace.setSpan(context.active(), span), work),
  };
}

/** `fetch` in a span of its own, which the server that is called can continue. */
export async function tracedFetch(url: string, init: RequestInit): Promise<Response> {
  const method = init.method ?? "GET";
  const { hostname } = new URL(url);
  const call = startCall(method, () => ({
    "http.request.method": method,
    "server.address": hostname,
  }));
  if (call === undefined) return await fetch(url, init);
  const headers = new Headers(init.headers);
  call.run(() => tracing?.api.propagation.inject(tracing.api.context.active(), headers, SETTER));
  try {
    const response = await fetch(url, { ...init, headers });
    const { status } = response;
    if (status >= 400) call.end(new Error(`status ${status}`), String(status));
    else call.end();
    return response;
  } catch (error) {
    call.end(error);
    throw error;
  }
}
