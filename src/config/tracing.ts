import type { Reader } from "./reader.ts";
import { TRACE_PROTOCOLS, TRACE_SAMPLERS, type TracingConfig } from "./schema.ts";

const HTTP = ["http", "https"] as const;
const [DEFAULT_PROTOCOL] = TRACE_PROTOCOLS;

/** A variable for traces, or else the one for all signals. */
const either = (reader: Reader, own: string, common: string) =>
  reader.text(own) === undefined ? common : own;

function endpointOf(reader: Reader): string | undefined {
  const own = reader.url("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", HTTP);
  const common = reader.url("OTEL_EXPORTER_OTLP_ENDPOINT", HTTP);
  // The address for all signals gets the path of traces, the one for traces is complete.
  return own ?? (common && `${common.replace(/\/+$/, "")}/v1/traces`);
}

/** Reads the standard variables of OpenTelemetry. Spans are exported when an endpoint is named. */
export function readTracing(reader: Reader): TracingConfig | undefined {
  const url = endpointOf(reader);
  const protocol = reader.oneOf(
    either(reader, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"),
    DEFAULT_PROTOCOL,
    TRACE_PROTOCOLS,
  );
  const sampler = reader.oneOf("OTEL_TRACES_SAMPLER", "parentbased_always_on", TRACE_SAMPLERS);
  const samplerRatio = reader.number("OTEL_TRACES_SAMPLER_ARG", 1, 0, 1);
  const disabled = reader.oneOf("OTEL_SDK_DISABLED", "false", ["true", "false"]) === "true";
  const exporter = reader.oneOf("OTEL_TRACES_EXPORTER", "otlp", ["otlp", "none"]);
  if (url === undefined || disabled || exporter === "none") return undefined;
  return { url, protocol, sampler, samplerRatio };
}
