import pino, { type Logger } from "pino";
import type { LogLevel } from "../config/schema.ts";
import { traceFields } from "./tracing.ts";

export type Log = Logger<"http">;

/** The level of the line that every request writes, between `debug` and `info`. */
const LEVELS = { http: 25 } as const;

/** Paths under which a secret could reach a log line by accident. */
const REDACTED = [
  "authorization",
  "*.authorization",
  "key",
  "*.key",
  "secret",
  "*.secret",
  "password",
  "*.password",
  "cookie",
  "*.cookie",
];

/** Loaded for terminals only, because every thread that logs would load it. */
const pretty = process.stderr.isTTY === true ? (await import("pino-pretty")).default : undefined;

/** Logs to standard error: JSON lines, or readable lines when it is a terminal. */
export function createLog(level: LogLevel): Log {
  const options = {
    level,
    customLevels: LEVELS,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: traceFields,
    redact: { paths: REDACTED, censor: "[redacted]" },
  };
  const stream =
    pretty?.({
      colorize: true,
      customLevels: "http:25",
      useOnlyCustomProps: false,
      destination: 2,
      sync: true,
      ignore: "time",
    }) ?? pino.destination({ dest: 2, sync: true });
  return pino(options, stream);
}
