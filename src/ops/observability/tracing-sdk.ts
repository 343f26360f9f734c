import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { getNumberFromEnv, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import pTimeout from "p-timeout";
import { VERSION } from "../../domain/version.ts";

/** At shutdown, for exporting the last spans. */
const TRACES_CLOSE_TIMEOUT_MS = 500;

const NAME = "tessera";

/** All traces, unless the standard variable names a share of them. */
const DEFAULT_RATIO = 1;

/**
 * Registers the SDK, which exports spans in batches in the background. The SDK itself reads the standard variables for
 * the share of sampled traces, for headers, time limit, compression and certificates of the exporter, and for further
 * attributes of the service.
 *
 * @param url the URL that spans are sent to
 */
export function startExporting(url: string): {
  readonly api: typeof api;
  readonly tracer: api.Tracer;
  close(): Promise<void>;
} {
  const { context, propagation, trace } = api;
  const ratio = getNumberFromEnv("OTEL_TRACES_SAMPLER_ARG") ?? DEFAULT_RATIO;
  const service = resourceFromAttributes({
    "service.name": NAME,
    "service.version": VERSION,
    "service.instance.id": crypto.randomUUID(),
  });
  const provider = new TracerProvider({
    resource: service.merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
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
