import type { Reader } from "./reader.ts";
import { TRACE_PROTOCOLS, type TracingConfig } from "./schema.ts";

const [DEFAULT_PROTOCOL] = TRACE_PROTOCOLS;

/** Reads the standard variables of OpenTelemetry. Spans are exported when an endpoint is named. */
export function readTracing(reader: Reader): TracingConfig | undefined {
  const endpoint = reader.url("OTEL_EXPORTER_OTLP_ENDPOINT", ["http", "https"]);
  const protocol = reader.oneOf("OTEL_EXPORTER_OTLP_PROTOCOL", DEFAULT_PROTOCOL, TRACE_PROTOCOLS);
  const ratio = reader.number("OTEL_TRACES_SAMPLER_ARG", 1, 0, 1);
  if (endpoint === undefined) return undefined;
  return { url: `${endpoint.replace(/\/+$/, "")}/v1/traces`, protocol, ratio };
}
