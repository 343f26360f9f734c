import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  codeOf,
  filesNamedIn,
  filesOf,
  findCycle,
  importsOf,
  ROOT,
  reachable,
  textOf,
} from "./sources.ts";

/** The layers, highest first. A file imports from its own layer and from lower ones only. */
const LAYERS = {
  entry: ["main.ts", "cli", "serve.ts", "failure.ts"],
  app: ["app.ts"],
  api: ["api", "console", "embeddings", "import", "export", "demo"],
  engine: ["engine", "indexing", "models", "pgvector", "text", "threads"],
  shared: [
    "http",
    "audit",
    "auth",
    "problem",
    "config",
    "db",
    "coordination",
    "idempotency",
    "observability",
    "markdown",
    "tenants",
    "shared",
  ],
} as const satisfies Record<string, readonly string[]>;

type Layer = keyof typeof LAYERS;
const ORDER = Object.keys(LAYERS) as Layer[];

/** Code that worker threads share with the main thread. It does not depend on the service. */
const PURE_CORES = [
  "src/shared/limits.ts",
  "src/shared/disk-formats.ts",
  "src/shared/frontmatter-entry.ts",
  "src/shared/thread-priority.ts",
  "src/engine/requests/request.ts",
  "src/engine/requests/run.ts",
  "src/engine/requests/warm-up.ts",
  "src/engine/requests/scope.ts",
  "src/text/",
];

/** What operations know of the engine. */
const ENGINE_INTERFACE = [
  // What servers report of their indexes.
  "src/indexing/changes/index-state.ts",
  "src/indexing/changes/visibility.ts",
  "src/engine/engine.ts",
  "src/engine/requests/request.ts",
  "src/engine/requests/scope.ts",
  // What runs work on another thread.
  "src/threads/protocol.ts",
  "src/threads/run-thread.ts",
  "src/threads/supervised-thread.ts",
];

/** Programs; every other file must be reachable from here. */
const ENTRY_POINTS = ["src/main.ts", "src/cli/main.ts", "native/build.ts"];

/** What only tests and benchmarks use, next to the code that it opens to them. */
const TEST_SURFACES = ["native/testing.ts"];

/** Files outside src/config that read the environment, with the reason. */
const ENVIRONMENT_READERS: Readonly<Record<string, string>> = {
  "native/build.ts": "a build script: it honours CXX and passes its environment to the compiler",
  "src/console/page/search/search-code.tsx": "reads none: it shows code that does",
};

const product = filesOf("src/**/*.{ts,tsx}", "workers/**/*.ts", "native/*.ts");
const sources = product.filter((file) => file.startsWith("src/"));
const workers = product.filter((file) => file.startsWith("workers/"));
const native = product.filter((file) => file.startsWith("native/"));

/** The part of src that a file belongs to: a folder or a single file below src. */
const partOf = (file: string): string => file.split("/")[1] ?? "";

/** The feature of a file above the engine: a folder of `api`, or a part of its own. */
function featureOf(file: string): string | undefined {
  if (layerOf(file) !== "api") return undefined;
  const [, part = "", feature = ""] = file.split("/");
  return part === "api" ? `${part}/${feature}` : part;
}

function layerOf(file: string): Layer | undefined {
  const part = partOf(file);
  return ORDER.find((layer) => LAYERS[layer].some((name) => name === part));
}

/** Every import from a file of the repository to another one, as [from, to]. */
function edges(files: readonly string[]): [from: string, to: string][] {
  return files.flatMap((file) =>
    importsOf(file).flatMap(({ target }): [string, string][] => (target ? [[file, target]] : [])),
  );
}

const within = (file: string, places: readonly string[]): boolean =>
  places.some((place) => file === place || (place.endsWith("/") && file.startsWith(place)));

const arrow = ([from, to]: readonly [string, string]): string => `${from} -> ${to}`;

describe("the direction of imports", () => {
  test("every import names a file that exists", () => {
    const missing = edges(product).filter(([, to]) => !existsSync(join(ROOT, to)));
    expect(missing.map(arrow)).toEqual([]);
  });

  test("every part of src belongs to a layer", () => {
    expect(sources.filter((file) => layerOf(file) === undefined)).toEqual([]);
  });

  test("no file imports from a higher layer", () => {
    const rank = (file: string): number => ORDER.indexOf(layerOf(file) ?? "shared");
    const upward = edges(sources).filter(([from, to]) => {
      return to.startsWith("src/") && rank(to) < rank(from);
    });
    expect(upward.map(arrow)).toEqual([]);
  });

  test("no two files import each other, directly or through others", () => {
    const graph = new Map(
      product.map((file) => [file, importsOf(file).flatMap(({ target }) => target ?? [])]),
    );
    expect(findCycle(graph)).toBeUndefined();
  });

  test("no two folders import each other, directly or through others", () => {
    const graph = new Map<string, Set<string>>();
    for (const [from, to] of edges(
      filesOf("{src,workers,native,test,bench,support}/**/*.{ts,tsx}"),
    )) {
      const [folder, target] = [dirname(from), dirname(to)];
      if (folder !== target) graph.set(folder, (graph.get(folder) ?? new Set()).add(target));
    }
    expect(findCycle(graph)).toBeUndefined();
  });

  test("no two features import each other", () => {
    const graph = new Map<string, Set<string>>();
    for (const [from, to] of edges(sources)) {
      const [feature, target] = [featureOf(from), featureOf(to)];
      if (feature && target && feature !== target) {
        graph.set(feature, (graph.get(feature) ?? new Set()).add(target));
      }
    }
    expect(findCycle(graph)).toBeUndefined();
  });

  test("workers import only the addon, one another and the pure cores", () => {
    const allowed = ["native/", "workers/", ...PURE_CORES];
    const foreign = edges(workers).filter(([, to]) => !within(to, allowed));
    expect(foreign.map(arrow)).toEqual([]);
  });

  test("the pure cores import only one another and the addon", () => {
    const cores = sources.filter((file) => within(file, PURE_CORES));
    const allowed = ["native/", ...PURE_CORES];
    const foreign = edges(cores).filter(([, to]) => !within(to, allowed));
    expect(foreign.map(arrow)).toEqual([]);
  });

  test("the addon's TypeScript imports nothing of the service", () => {
    const foreign = edges(native).filter(([, to]) => !within(to, ["native/"]));
    expect(foreign.map(arrow)).toEqual([]);
  });

  test("no file of the product imports what exists for tests", () => {
    const importing = edges(product).filter(([, to]) => TEST_SURFACES.includes(to));
    expect(importing.map(arrow)).toEqual([]);
  });

  test("only the engine imports the workers", () => {
    const foreign = edges(sources).filter(([from, to]) => {
      return to.startsWith("workers/") && layerOf(from) !== "engine";
    });
    expect(foreign.map(arrow)).toEqual([]);
  });

  test("operations import of the engine only its interface and the types of requests", () => {
    const foreign = edges(sources).filter(([from, to]) => {
      const isOperation = from.startsWith("src/api/");
      return isOperation && layerOf(to) === "engine" && !ENGINE_INTERFACE.includes(to);
    });
    expect(foreign.map(arrow)).toEqual([]);
  });

  test("the tracing SDK is imported by one file, which is loaded when tracing is configured", () => {
    const sdk = /\bfrom\s*"@opentelemetry\/(?!api")/;
    const importing = product.filter((file) => sdk.test(codeOf(file)));
    expect(importing).toEqual(["src/observability/tracing-sdk.ts"]);
    const eager = product.filter((file) => /\bfrom\s*"[^"]*tracing-sdk/.test(textOf(file)));
    expect(eager).toEqual([]);
  });

  test("only src/config reads the environment", () => {
    const readers = product.filter((file) => {
      const reads = /\b(process|Bun|import\.meta)\.env\b/.test(codeOf(file));
      return reads && partOf(file) !== "config" && !(file in ENVIRONMENT_READERS);
    });
    expect(readers).toEqual([]);
  });
});

describe("tests, benchmarks and what they share", () => {
  const places = ["test/", "bench/", "support/", "scripts/"];
  const imports = edges(filesOf("{src,workers,native,test,bench,support,scripts}/**/*.ts"));
  const between = (from: string, to: string) =>
    imports.filter(([file, target]) => file.startsWith(from) && target.startsWith(to)).map(arrow);

  test("only tests of benchmarks import benchmarks, which import no test", () => {
    const others = between("test/", "bench/").filter((edge) => !edge.startsWith("test/bench/"));
    expect([...others, ...between("bench/", "test/")]).toEqual([]);
  });

  test("what they share imports neither of them", () => {
    expect([...between("support/", "test/"), ...between("support/", "bench/")]).toEqual([]);
  });

  test("the product imports none of them", () => {
    const product = ["src/", "workers/", "native/"];
    expect(product.flatMap((from) => places.flatMap((to) => between(from, to)))).toEqual([]);
  });
});

describe("dead files", () => {
  const targets = (file: string): string[] => [
    ...importsOf(file).flatMap(({ target }) => target ?? []),
    ...filesNamedIn(file),
  ];

  test("every file of the product is used by the server, the command line or the build", () => {
    const used = reachable(ENTRY_POINTS, (file) =>
      existsSync(join(ROOT, file)) ? targets(file) : [],
    );
    const unused = product.filter((file) => !used.has(file));
    expect(unused).toEqual(TEST_SURFACES);
  });

  test("every helper of tests and benchmarks is used", () => {
    const starts = filesOf(
      "test/**/*.test.ts",
      "scripts/*.ts",
      "bench/**/*.ts",
      "support/preload.ts",
    );
    const used = reachable(starts, (file) => (existsSync(join(ROOT, file)) ? targets(file) : []));
    expect(filesOf("{test,support}/**/*.ts").filter((file) => !used.has(file))).toEqual([]);
  });
});
