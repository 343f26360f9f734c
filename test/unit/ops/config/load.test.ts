import { describe, expect, spyOn, test } from "bun:test";
import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { configurationPage } from "../../../../scripts/configuration.ts";
import { ConfigError, configWarnings, loadConfig } from "../../../../src/ops/config/load.ts";
import { VARIABLES } from "../../../../src/ops/config/variables.ts";
import { PROJECT_ROOT } from "../../../../support/processes/process.ts";

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe("the configuration", () => {
  test("without any variable the configuration has the documented defaults", () => {
    const config = loadConfig({});
    expect(config).toMatchObject({ port: 3000, host: "127.0.0.1", maxBodyBytes: 1_048_576 });
    expect(config).toMatchObject({ demo: "auto", logLevel: "info", databaseUrl: undefined });
    expect(config.dataDir).toEndWith("/data");
    expect(config.searchWorkers).toBeGreaterThan(0);
  });

  test("indexes get 60% of the memory by default: of the container's limit, or of the machine without one", () => {
    using limit = spyOn(process, "constrainedMemory");
    const share = (of: number) => {
      limit.mockReturnValue(of);
      return loadConfig({}).indexMemoryBytes;
    };
    expect(share(1_000_000_000)).toBe(600_000_000);
    // Systems without a limit report 0, or more than any machine has.
    for (const none of [0, 2 ** 63]) expect(share(none)).toBe(Math.ceil(0.6 * totalmem()));
  });

  test("an embedder may have any name of a model that endpoints know", () => {
    const configured = (model: string) =>
      JSON.stringify({ own: { url: "http://127.0.0.1:11434/v1", model, dimension: 768 } });
    const models = [
      ...["nomic-embed-text", "snowflake-arctic-embed:335m", "voyage-code-3", "BAAI/bge-m3"],
      ...["text-embedding-3-large", "Cohere-embed-v4.0", "{deployment}", "my model"],
    ];
    for (const model of models) {
      const { embedders } = loadConfig({ EMBEDDERS: configured(model) });
      expect(embedders).toMatchObject([{ model }]);
    }
    for (const model of ["", "bge\nm3", "bge\u0000m3"]) {
      expect(faultsOf({ EMBEDDERS: configured(model) })).toEqual([
        "EMBEDDERS.own.model is missing, unknown or not valid",
      ]);
    }
  });

  test("the requests of an embedder have a size and a number within bounds, and its vectors a length", () => {
    const configured = (more: object) =>
      JSON.stringify({ own: { url: "http://127.0.0.1", model: "m", dimension: 768, ...more } });
    const { embedders } = loadConfig({
      EMBEDDERS: configured({ batch: 10, concurrency: 2, dimension: 1, truncate: true }),
    });
    expect(embedders).toMatchObject([{ batch: 10, concurrency: 2, dimension: 1, truncate: true }]);
    for (const [name, ...values] of [
      ["batch", 0, 257, 1.5, "8"],
      ["concurrency", 0, 33, null],
      ["dimension", 0, 4_097, 1.5, "384"],
      ["truncate", 1, "yes"],
    ]) {
      for (const value of values) {
        expect(faultsOf({ EMBEDDERS: configured({ [`${name}`]: value }) })).toEqual([
          `EMBEDDERS.own.${name} is missing, unknown or not valid`,
        ]);
      }
    }
  });

  test("an invalid configuration reports all faults at once, by variable and without values", () => {
    const env = {
      PORT: "99999",
      DATABASE_URL: "mysql://user:hunter2@db",
      REDIS_URL: "hunter2",
      BASE_URL: "ftp://hunter2",
      JWT_JWKS_URL: "hunter2",
      JWT_EMAIL_VERIFIED: "hunter2",
      BILLING_ORIGINS: "https://ok.example.com, hunter2/path",
      STRIPE_PRICES: '{"pro.weekly":"hunter2"}',
      SEARCH_WORKERS: "0",
      INDEX_MEMORY_BYTES: "0",
      INDEX_PRELOAD: "some",
      VECTOR_DATABASE_URL: "hunter2",
      MAX_BODY_BYTES: "ten",
      DEMO: "maybe",
      LOG_LEVEL: "loud",
      CORS_ORIGINS: "*, https://hunter2/path",
      RATE_LIMIT_REQUESTS: "many",
      SLOW_REQUEST_MS: "-1",
      OTEL_EXPORTER_OTLP_ENDPOINT: "grpc://hunter2",
    };
    const faults = faultsOf(env);
    for (const name of Object.keys(env)) {
      expect(faults.filter((fault) => fault.startsWith(`${name} `))).toHaveLength(1);
    }
    expect(faults.join()).not.toContain("hunter2");
  });

  test("a JWT secret of any length is accepted, and a short one causes a warning that does not show it", () => {
    const short = loadConfig({ JWT_SECRET: "hunter2" });
    expect(short.jwt.secret).toBe("hunter2");
    expect(configWarnings(short).join()).toMatch(/^JWT_SECRET (?!.*hunter2)/);
    expect(configWarnings(loadConfig({ JWT_SECRET: "s".repeat(32) }))).toEqual([]);
    expect(configWarnings(loadConfig({}))).toEqual([]);
  });

  test("every tier may have a price, and any body limit above zero is accepted", () => {
    const prices = '{"free.monthly":"price_0","pro.yearly":"price_1"}';
    expect(loadConfig({ STRIPE_PRICES: prices }).billing.prices).toEqual(JSON.parse(prices));
    expect(loadConfig({ MAX_BODY_BYTES: "1" }).maxBodyBytes).toBe(1);
    expect(faultsOf({ MAX_BODY_BYTES: "0" })).toHaveLength(1);
  });

  test("empty variables count as absent", () => {
    expect(loadConfig({ PORT: "", DATABASE_URL: " ", STRIPE_PRICES: "" }).port).toBe(3000);
  });

  test("billing origins are normalized to the form that browsers send", () => {
    const env = { BILLING_ORIGINS: "https://App.Example.com:443 ,http://localhost:8080" };
    expect(loadConfig(env).billing.origins).toEqual([
      "https://app.example.com",
      "http://localhost:8080",
    ]);
  });

  test("the base URL loses its trailing slashes, so that links have one", () => {
    expect(loadConfig({ BASE_URL: "https://api.example.com/v//" }).baseUrl).toBe(
      "https://api.example.com/v",
    );
  });

  test("a database address may name a socket, but not several servers", () => {
    for (const url of [
      "postgresql:///db?host=/tmp",
      "postgres://u:a,b@host/db?options=-csearch_path=a,b",
    ]) {
      expect(loadConfig({ DATABASE_URL: url }).databaseUrl).toBe(url);
    }
    for (const url of ["postgres://u:p@a:1,b:2/db", "postgresql:///db?host=a,b"]) {
      expect(() => loadConfig({ DATABASE_URL: url })).toThrow("DATABASE_URL must name one server");
    }
  });

  test("the configuration is frozen", () => {
    expect(Object.isFrozen(loadConfig({}))).toBe(true);
  });

  test("spans are exported when an endpoint is named, to its address for traces", () => {
    expect(loadConfig({}).tracesUrl).toBeUndefined();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };
    expect(loadConfig(env).tracesUrl).toBe("http://collector:4318/v1/traces");
  });

  test("no more than 32 variables configure the service, and each is in the documentation", () => {
    const names = new Set<string>();
    const env = new Proxy<Record<string, string>>(
      {},
      {
        get(_, name) {
          names.add(String(name));
          return undefined;
        },
      },
    );
    loadConfig(env);
    expect(names.size).toBeLessThanOrEqual(32);
    expect([...names].sort()).toEqual(Object.keys(VARIABLES).sort());
    const docs = readFileSync(join(PROJECT_ROOT, "docs", "configuration.md"), "utf8");
    expect(docs, "run: bun scripts/configuration.ts").toBe(configurationPage());
  });
});
