interface Variable {
  /** The default, as the documentation shows it. */
  readonly otherwise: string;
  /** Its meaning, as Markdown whose links are relative to `docs/`. */
  readonly meaning: string;
}

/** All variables that configure the service and its commands. `scripts/configuration.ts` writes docs/configuration.md. */
export const VARIABLES = {
  PORT: { otherwise: "3000", meaning: "the port to listen on; 0 picks a free one" },
  HOST: { otherwise: "127.0.0.1", meaning: "the address to listen on" },
  BASE_URL: {
    otherwise: "from host and port",
    meaning:
      "{base_url} in problem types; links begin with its path, which a proxy removes from requests",
  },
  DATA_DIR: {
    otherwise: "`data` in Tessera's folder",
    meaning: "the folder of the embedded PostgreSQL and of index snapshots",
  },
  DATABASE_URL: {
    otherwise: "none",
    meaning:
      "an external PostgreSQL 14 or later, encoded in UTF8, instead of the embedded one, also on a Unix socket as in `postgres://user@%2Frun%2Fpostgresql/tessera` ([connections](operations.md#connections))",
  },
  REDIS_URL: {
    otherwise: "none",
    meaning: "Redis 6.2 or later, or Valkey; required with several processes",
  },
  JWT_SECRET: {
    otherwise: "none",
    meaning: "the secret that verifies JWTs; without it and `JWT_JWKS_URL` all JWTs are refused",
  },
  JWT_JWKS_URL: { otherwise: "none", meaning: "the URL of the key set that verifies JWTs" },
  JWT_ISSUER: { otherwise: "any", meaning: "the required issuer of JWTs" },
  JWT_AUDIENCE: { otherwise: "any", meaning: "the required audience of JWTs" },
  JWT_ALLOW_NO_EXP: {
    otherwise: "off",
    meaning: "`on` accepts tokens without an `exp` claim, which never expire",
  },
  JWT_EMAIL_VERIFIED: {
    otherwise: "assumed",
    meaning:
      "`required` ignores the address of a token without the claim `email_verified`; with `assumed` such an address counts as verified ([addresses](credentials.md#addresses))",
  },
  BILLING_ORIGINS: {
    otherwise: "none",
    meaning: "origins that may start an upgrade, separated by commas",
  },
  STRIPE_SECRET_KEY: { otherwise: "none", meaning: "the key of the payment provider" },
  STRIPE_API_BASE: {
    otherwise: "Stripe's",
    meaning: "another address of the payment provider's API",
  },
  STRIPE_PRICES: {
    otherwise: "none",
    meaning: "JSON of price ids by `pro.monthly`, `server.yearly` and so on",
  },
  TESSERA_API_KEY: {
    otherwise: "none",
    meaning: "the API key of the commands `search`, `lookup` and `sync`",
  },
  EMBEDDERS: {
    otherwise: "none",
    meaning:
      "JSON of the embedders that projects may name, in addition to `hashing`: [endpoints](operations.md#embedders) and [local models](models.md#settings)",
  },
  SEARCH_WORKERS: { otherwise: "cores", meaning: "number of search threads" },
  INDEX_MEMORY_BYTES: {
    otherwise: "60% of the machine or container",
    meaning: "memory that indexes may use before idle projects are unloaded",
  },
  INDEX_PRELOAD: {
    otherwise: "all",
    meaning:
      "projects that are loaded before their first search: `all`, `own` (those with snapshots here) or `none` ([nodes](nodes.md#setting-up))",
  },
  VECTOR_DATABASE_URL: {
    otherwise: "none",
    meaning:
      "a PostgreSQL that stores and searches the vectors of projects larger than a machine, instead of the memory of nodes; may be that of `DATABASE_URL` ([pgvector](pgvector.md))",
  },
  MAX_BODY_BYTES: { otherwise: "1048576", meaning: "largest request body" },
  IMPORT_MAX_BYTES: {
    otherwise: "1073741824",
    meaning: "largest import over HTTP, before and after decompression",
  },
  DEMO: {
    otherwise: "on for an empty embedded database",
    meaning: "the demo project; `off` starts with an empty database",
  },
  LOG_LEVEL: {
    otherwise: "info",
    meaning:
      "the log is JSON lines, or readable text on a terminal; `http` adds a line per request",
  },
  CORS_ORIGINS: {
    otherwise: "none",
    meaning:
      "origins whose pages may call the API from browsers, also `POST /mcp`, separated by commas",
  },
  RATE_LIMIT_REQUESTS: {
    otherwise: "0 (off)",
    meaning:
      "requests in each minute per credential ([limits](operations.md#limits-per-credential))",
  },
  RATE_LIMIT_USER_REQUESTS: {
    otherwise: "0 (off)",
    meaning: "requests in each minute per user with all credentials",
  },
  QUESTION_STATISTICS: {
    otherwise: "on",
    meaning:
      "`off` does not count questions in words, and deletes the stored counts ([questions](operations.md#questions))",
  },
  SLOW_REQUEST_MS: {
    otherwise: "0 (off)",
    meaning: "requests that take at least this long are logged with their figures",
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    otherwise: "none",
    meaning:
      "exports traces to this collector; [traces](operations.md#traces) lists the other variables of OpenTelemetry",
  },
} as const satisfies Readonly<Record<string, Variable>>;

export type VariableName = keyof typeof VARIABLES;
