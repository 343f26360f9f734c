import { availableParallelism, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { BODY_TRANSPORT_MAX_BYTES, RATE_LIMIT_WINDOW_SECONDS } from "../../domain/limits.ts";
import { ENVIRONMENT, ROOT } from "./caller.ts";
import { readEmbedders } from "./embedders.ts";
import { type Environment, Reader } from "./reader.ts";
import {
  type Config,
  DEFAULTS,
  type DemoMode,
  INDEX_PRELOADS,
  LOG_LEVELS,
  type LogLevel,
} from "./schema.ts";
import type { VariableName } from "./variables.ts";

const SEARCH_WORKERS_MAX = 256;
const SLOW_REQUEST_MAX_MS = 3_600_000;
/** Share of the machine's memory that indexes may use by default before idle projects are evicted. */
const INDEX_MEMORY_SHARE = 0.6;
const INDEX_MEMORY_MIN_BYTES = 1_048_576;
const INDEX_MEMORY_MAX_BYTES = 2 ** 44;
/** RFC 7518 requires a secret as long as the hash; the server warns about shorter ones. */
const JWT_SECRET_SAFE_BYTES = 32;
const RATE_LIMIT_REQUESTS_MAX = 1_000_000_000;
const PORT_MAX = 65_535;

/** All faults of a configuration, one line per fault, each with the name of its variable. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`the configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
    this.name = "ConfigError";
    this.faults = faults;
  }
}

/** In Tessera's own folder, regardless of the current directory. */
const DEFAULT_DATA_DIR = join(ROOT, "data");

function readPrices(reader: Reader): Record<string, string> {
  const text = reader.text("STRIPE_PRICES");
  if (text === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) {
      const entries = Object.entries(parsed);
      const known = /^(free|pro|enterprise|server|sandbox)\.(monthly|yearly)$/;
      if (entries.every(([key, id]) => known.test(key) && typeof id === "string" && id !== "")) {
        return Object.fromEntries(entries) as Record<string, string>;
      }
    }
  } catch {
    // The fault below must not repeat the value.
  }
  reader.faults.push(
    'STRIPE_PRICES must be a JSON object of price IDs by "free|pro|enterprise|server|sandbox.monthly|yearly"',
  );
  return {};
}

function readRateLimit(reader: Reader): Config["rateLimit"] {
  const limit = (name: VariableName) => reader.integer(name, 0, 0, RATE_LIMIT_REQUESTS_MAX);
  return {
    requests: limit("RATE_LIMIT_REQUESTS"),
    userRequests: limit("RATE_LIMIT_USER_REQUESTS"),
    windowSeconds: RATE_LIMIT_WINDOW_SECONDS,
  };
}

/** The URL for spans below the collector that the standard variable of OpenTelemetry names. */
function readTracesUrl(reader: Reader): string | undefined {
  const endpoint = reader.url("OTEL_EXPORTER_OTLP_ENDPOINT", ["http", "https"]);
  return endpoint === undefined ? undefined : `${endpoint.replace(/\/+$/, "")}/v1/traces`;
}

/** The memory that indexes use by default: a share of the machine's, or of the container's limit. */
function memoryShare(): number {
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.ceil(Math.min(totalmem(), limit) * INDEX_MEMORY_SHARE);
}

/** Reads the configuration from the environment. Throws a ConfigError that lists every fault. */
export function loadConfig(env: Environment = ENVIRONMENT): Config {
  const reader = new Reader(env);
  const http = ["http", "https"] as const;
  const config: Config = {
    port: reader.integer("PORT", DEFAULTS.port, 0, PORT_MAX),
    host: reader.text("HOST") ?? DEFAULTS.host,
    baseUrl: reader.url("BASE_URL", http)?.replace(/\/+$/, ""),
    dataDir: resolve(reader.text("DATA_DIR") ?? DEFAULT_DATA_DIR),
    databaseUrl: reader.database("DATABASE_URL"),
    redisUrl: reader.url("REDIS_URL", ["redis", "rediss", "unix"]),
    jwt: {
      secret: reader.text("JWT_SECRET"),
      jwksUrl: reader.url("JWT_JWKS_URL", http),
      issuer: reader.text("JWT_ISSUER"),
      audience: reader.text("JWT_AUDIENCE"),
      allowNoExp: reader.oneOf("JWT_ALLOW_NO_EXP", "off", ["on", "off"]) === "on",
      requiresVerifiedEmail:
        reader.oneOf("JWT_EMAIL_VERIFIED", "assumed", ["assumed", "required"]) === "required",
    },
    billing: {
      origins: reader.origins("BILLING_ORIGINS"),
      secretKey: reader.text("STRIPE_SECRET_KEY"),
      apiBase: reader.url("STRIPE_API_BASE", http),
      prices: readPrices(reader),
    },
    embedders: readEmbedders(reader),
    apiKey: reader.text("TESSERA_API_KEY"),
    vectorDatabaseUrl: reader.database("VECTOR_DATABASE_URL"),
    searchWorkers: reader.integer("SEARCH_WORKERS", availableParallelism(), 1, SEARCH_WORKERS_MAX),
    indexMemoryBytes: reader.integer(
      "INDEX_MEMORY_BYTES",
      memoryShare(),
      INDEX_MEMORY_MIN_BYTES,
      INDEX_MEMORY_MAX_BYTES,
    ),
    indexPreload: reader.oneOf("INDEX_PRELOAD", "all", INDEX_PRELOADS),
    corsOrigins: reader.origins("CORS_ORIGINS"),
    rateLimit: readRateLimit(reader),
    maxBodyBytes: reader.integer(
      "MAX_BODY_BYTES",
      DEFAULTS.maxBodyBytes,
      1,
      BODY_TRANSPORT_MAX_BYTES,
    ),
    importMaxBytes: reader.integer(
      "IMPORT_MAX_BYTES",
      DEFAULTS.importMaxBytes,
      1,
      BODY_TRANSPORT_MAX_BYTES,
    ),
    demo: reader.oneOf<DemoMode>("DEMO", "auto", ["auto", "on", "off"]),
    countsQuestions: reader.oneOf("QUESTION_STATISTICS", "on", ["on", "off"]) === "on",
    slowRequestMs: reader.integer("SLOW_REQUEST_MS", 0, 0, SLOW_REQUEST_MAX_MS),
    tracesUrl: readTracesUrl(reader),
    logLevel: reader.oneOf<LogLevel>("LOG_LEVEL", "info", LOG_LEVELS),
    failpoints: [],
  };
  if (reader.faults.length > 0) throw new ConfigError([...new Set(reader.faults)]);
  return Object.freeze(config);
}

/** Warnings about a valid configuration, one sentence each. */
export function configWarnings({ jwt }: Config): string[] {
  const isShort = jwt.secret !== undefined && Buffer.byteLength(jwt.secret) < JWT_SECRET_SAFE_BYTES;
  if (!isShort) return [];
  return [`JWT_SECRET is shorter than ${JWT_SECRET_SAFE_BYTES} bytes and could be guessed`];
}
