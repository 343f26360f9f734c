import { onCleanup } from "../../support/cleanup.ts";

interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string };
}

/** A span as a collector receives it in JSON. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number };
}

interface OtlpExport {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: ReadonlyArray<{ readonly spans: readonly OtlpSpan[] }>;
  }>;
}

/** A collector that keeps what it receives over OTLP/HTTP. */
export class Collector {
  readonly spans: OtlpSpan[] = [];
  readonly resources: Array<Record<string, unknown>> = [];
  readonly requests: Array<{ path: string; type: string | null; headers: Headers }> = [];
  readonly #server = Bun.serve({ port: 0, fetch: (request) => this.#receive(request) });

  /** @param answers whether exports are answered */
  constructor(private readonly answers = true) {
    onCleanup(() => this.#server.stop(true));
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  async #receive(request: Request): Promise<Response> {
    const { pathname: path } = new URL(request.url);
    const { headers } = request;
    const type = headers.get("content-type");
    this.requests.push({ path, type, headers });
    if (type === "application/json") {
      const { resourceSpans } = (await request.json()) as OtlpExport;
      for (const { resource, scopeSpans } of resourceSpans) {
        this.resources.push(valuesOf(resource.attributes));
        this.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
      }
    }
    if (!this.answers) await new Promise(() => {});
    return Response.json({});
  }
}

function valuesOf(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  );
}

/** The attributes of a span by name. */
export const attributesOf = (span: OtlpSpan): Record<string, unknown> => valuesOf(span.attributes);
