import { BODY_DEFAULT_MAX_BYTES } from "../shared/limits.ts";

export type DemoMode = "auto" | "on" | "off";
export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";

/** The whole configuration, validated and frozen. Nothing else reads the environment. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash; undefined until the port is known and none was configured. */
  readonly baseUrl: string | undefined;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  readonly jwt: {
    readonly secret: string | undefined;
    readonly jwksUrl: string | undefined;
    readonly issuer: string | undefined;
    readonly audience: string | undefined;
  };
  readonly billing: {
    /** Origins as `new URL(...).origin` spells them. */
    readonly origins: readonly string[];
    readonly secretKey: string | undefined;
    readonly apiBase: string | undefined;
    /** Price ids by `tier.cycle`, `server.cycle`, `sandbox.cycle`. */
    readonly prices: Readonly<Record<string, string>>;
  };
  /** Sent to the embedding endpoint of a Markdown import. */
  readonly embedApiKey: string | undefined;
  readonly searchWorkers: number;
  readonly maxBodyBytes: number;
  readonly demo: DemoMode;
  readonly logLevel: LogLevel;
  /** Points at which tests make the process die; empty in production. */
  readonly failpoints: readonly string[];
}

export const LOG_LEVELS: readonly LogLevel[] = [
  "trace",
  "debug",
  "info",
  "warn",
  "error",
  "fatal",
  "silent",
];

export const DEFAULTS = {
  port: 3000,
  host: "127.0.0.1",
  dataDir: "./data",
  maxBodyBytes: BODY_DEFAULT_MAX_BYTES,
} as const;
