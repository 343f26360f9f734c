import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import pTimeout from "p-timeout";
import { VERSION } from "../../domain/version.ts";
import type { TracingConfig } from "../config/schema.ts";

/** At shutdown, for exporting the last spans. */
const TRACES_CLOSE_TIMEOUT_MS = 500;

const NAME = "tessera";

/**
 * Registers the SDK, which exports spans in batches in the background. Headers, time limit, compression
 * and certificates of the exporter, and further attributes of the service, are read from the standard
 * variables by the SDK itself.
 */
export function startExporting(config: TracingConfig): {
  readonly api: typeof api;
  readonly tracer: api.Tracer;
  close(): Promise<void>;
} {
  const { context, propagation, trace } = api;
  const Exporter = config.protocol === "http/json" ? JsonExporter : ProtobufExporter;
  const service = resourceFromAttributes({
    "service.name": NAME,
    "service.version": VERSION,
    "service.instance.id": crypto.randomUUID(),
  });
  const provider = new TracerProvider({
    resource: service.merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(config.ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new Exporter({ url: config.url }) })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return {
    api,
    tracer: provider.getTracer(NAME, VERSION),
    async close() {
      // A collector that does not answer must not delay the end of the service.
      await pTimeout(
        provider.shutdown().catch(() => {}),
        { milliseconds: TRACES_CLOSE_TIMEOUT_MS, message: false },
      );
      for (const part of [context, propagation, trace]) part.disable();
    },
  };
}
