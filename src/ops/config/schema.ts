import { BODY_DEFAULT_MAX_BYTES, IMPORT_DEFAULT_MAX_BYTES } from "../../domain/limits.ts";
import type { EmbedderConfig } from "./embedders.ts";

export type DemoMode = "auto" | "on" | "off";

/**
 * Projects that are loaded before their first search: `all` that fit into memory, those of which
 * this process has snapshots (`own`), or `none`.
 */
export type IndexPreload = "all" | "own" | "none";
export type LogLevel = "trace" | "debug" | "http" | "info" | "warn" | "error" | "fatal" | "silent";

/** The whole configuration, validated and frozen. Only this folder reads the environment. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash; by default the server derives it from host and port. */
  readonly baseUrl: string | undefined;
  /** An absolute path. */
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly jwt: {
    readonly secret: string | undefined;
    readonly jwksUrl: string | undefined;
    readonly issuer: string | undefined;
    readonly audience: string | undefined;
    /** Accept tokens that never expire. */
    readonly allowNoExp: boolean;
    /** Ignore an address unless the token states that its issuer has verified it. */
    readonly requiresVerifiedEmail: boolean;
  };
  readonly billing: {
    /** Origins in the form of `new URL(...).origin`. */
    readonly origins: readonly string[];
    readonly secretKey: string | undefined;
    readonly apiBase: string | undefined;
    /** Price IDs by `tier.cycle`, `server.cycle` and `sandbox.cycle`. */
    readonly prices: Readonly<Record<string, string>>;
  };
  /** The embedders that projects may name, in addition to the built-in one. */
  readonly embedders: readonly EmbedderConfig[];
  /** The API key with which commands query the service. */
  readonly apiKey: string | undefined;
  /** The database of the engine pgvector; undefined for the embedded engine. */
  readonly vectorDatabaseUrl: string | undefined;
  readonly searchWorkers: number;
  /** The memory that indexes may use before idle projects are evicted. */
  readonly indexMemoryBytes: number;
  /** Projects that are loaded before their first search. */
  readonly indexPreload: IndexPreload;
  /** Origins whose pages may call the service, in the form of `new URL(...).origin`. */
  readonly corsOrigins: readonly string[];
  /** Requests per credential and window; 0 requests for no limit. */
  readonly rateLimit: {
    readonly requests: number;
    readonly userRequests: number;
    readonly windowSeconds: number;
  };
  readonly maxBodyBytes: number;
  /** The largest body of an import over HTTP. */
  readonly importMaxBytes: number;
  readonly demo: DemoMode;
  readonly logLevel: LogLevel;
  /** Requests that take longer are logged with their stages; 0 disables it. */
  readonly slowRequestMs: number;
  /** Count and store the questions in words of each project. */
  readonly countsQuestions: boolean;
  /** The URL that spans are sent to; undefined when none are exported. */
  readonly tracesUrl: string | undefined;
  /** Failpoints at which a test kills the process. They cannot be set by a variable. */
  readonly failpoints: readonly string[];
}

export const INDEX_PRELOADS: readonly IndexPreload[] = ["all", "own", "none"];

export const LOG_LEVELS: readonly LogLevel[] = [
  "trace",
  "debug",
  "http",
  "info",
  "warn",
  "error",
  "fatal",
  "silent",
];

export const DEFAULTS = {
  port: 3000,
  host: "127.0.0.1",
  maxBodyBytes: BODY_DEFAULT_MAX_BYTES,
  importMaxBytes: IMPORT_DEFAULT_MAX_BYTES,
} as const;
