import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { functionsOf } from "./functions.ts";
import { codeOf, filesOf, ROOT, textOf } from "./sources.ts";

const MAX_LINES = 300;
/** All guarantees of one operation are in one file. */
const MAX_TEST_LINES = 600;

/** Files that are longer for a reason. */
const LONG_FILES: Readonly<Record<string, string>> = {
  "src/problem/catalogue.ts": "every error type of the service in one place, which is data",
  "src/shared/limits.ts":
    "the bounds that several modules share, so that they can be read together",
};

/** Length of the longest C++ function; lower it when that gets shorter. Biome checks TypeScript. */
const MAX_CPP_FUNCTION_LINES = 38;

function isLong(file: string): boolean {
  const limit = file.endsWith(".test.ts") ? MAX_TEST_LINES : MAX_LINES;
  return textOf(file).trimEnd().split("\n").length > limit;
}

const code = filesOf(
  "{src,workers,native,support,test,bench,scripts}/**/*.ts",
  "src/console/**/*.{tsx,css,html}",
  "native/**/*.{cc,hpp,h}",
  "scripts/*.sh",
);
const documents = filesOf("*.md", "{docs,bench,src,native,test}/**/*.md");

describe("the state of the repository", () => {
  test("no file is longer than the limit without a stated reason", () => {
    expect(code.filter((file) => isLong(file) && !(file in LONG_FILES))).toEqual([]);
  });

  test("the list of long files names only long files", () => {
    const short = Object.keys(LONG_FILES).filter((file) => {
      return !existsSync(join(ROOT, file)) || !isLong(file);
    });
    expect(short).toEqual([]);
  });

  test("no C++ function is longer than the longest one was", () => {
    const functions = filesOf("native/src/**/*.{cc,hpp}").flatMap(functionsOf);
    expect(functions.length).toBeGreaterThan(200);
    expect(functions.filter(({ lines }) => lines > MAX_CPP_FUNCTION_LINES)).toEqual([]);
    expect(Math.max(...functions.map(({ lines }) => lines))).toBe(MAX_CPP_FUNCTION_LINES);
  });

  test("no comment marks unfinished work", () => {
    // In two parts, because this file is searched too.
    const markers = new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "HA" + "CK"].join("|")})\\b`);
    const left = [...code, ...documents].filter((file) => markers.test(textOf(file)));
    expect(left).toEqual([]);
  });

  test("the product never writes to the console", () => {
    const product = filesOf("{src,workers}/**/*.ts", "native/index.ts");
    expect(product.filter((file) => /\bconsole\.\w+\(/.test(codeOf(file)))).toEqual([]);
  });

  test("commands write to the terminal in one place, which takes its codes out of what others have written", () => {
    const own = ["src/cli/output.ts", "src/serve.ts", "src/main.ts"];
    const writing = filesOf("src/**/*.ts").filter((file) =>
      /std(out|err)\.write\(/.test(codeOf(file)),
    );
    expect(writing.filter((file) => !own.includes(file))).toEqual([]);
  });

  test("other services are called in one place, which follows no redirect and bounds the answer", () => {
    // The others run in a browser, which asks only the service itself.
    const pages = /^src\/(console\/page|http\/static\/page)\//;
    const calling = filesOf("src/**/*.ts", "workers/**/*.ts").filter(
      (file) => !pages.test(file) && /(?<![.\w])fetch\(/.test(codeOf(file)),
    );
    const senders = [
      // A socket is that of a process of the service; the endpoint of its model bounds the answer.
      "src/import/embedders/socket.ts",
      // A command follows the redirects of the hub that its user names, and takes as much as was stated before.
      "src/models/hub/download.ts",
      "src/observability/tracing.ts",
    ];
    expect(calling.sort()).toEqual(senders);
    const guarded = filesOf("src/**/*.ts").filter((file) =>
      /\b(tracedFetch|boundedFetch)\b/.test(codeOf(file)),
    );
    for (const file of [...calling, ...guarded]) {
      if (!senders.includes(file)) expect(codeOf(file)).toContain("boundedFetch(");
    }
  });

  test("commands have no SQL of their own", () => {
    const statements = /\b(sql|tx)(<[^`]*>)?`|\.unsafe\(/;
    expect(filesOf("src/cli/**/*.ts").filter((file) => statements.test(codeOf(file)))).toEqual([]);
  });

  test("no test is skipped, postponed or run alone, unless a program, a small disk or the history of the clone is missing", () => {
    const tests = filesOf("test/**/*.test.ts").filter(
      (file) => file !== "test/meta/programs.test.ts",
    );
    const marked = (file: string) =>
      /\b(test|it|describe)\.(only|skip|todo|todoIf|if)\(/.test(codeOf(file));
    expect(tests.filter(marked)).toEqual([]);
    const call = "lacks(?:SmallDisks|LastRelease)?\\([^()]*\\)";
    const excuse = new RegExp(`^(?:${call}(?: \\|\\| ${call})*|withoutRedis|withoutDisk)$`);
    const unexcused = tests.flatMap((file) => {
      const conditions = [...codeOf(file).matchAll(/\.skipIf\(((?:[^()]|\([^()]*\))*)\)/g)];
      const wrong = conditions.filter(([, condition = ""]) => !excuse.test(condition));
      return wrong.map(([, condition]) => `${file}: ${condition}`);
    });
    expect(unexcused).toEqual([]);
  });

  test("migrations are numbered from 1 without gaps", () => {
    const names = filesOf("src/db/migrations/*").map((file) => posix.basename(file));
    expect(names.length).toBeGreaterThan(0);
    for (const [index, name] of names.entries()) {
      expect(name).toMatch(/^\d{4}_[a-z0-9_]+\.sql$/);
      expect(Number.parseInt(name, 10)).toBe(index + 1);
    }
  });
});

describe("versions", () => {
  const manifest: {
    version: string;
    engines: { bun: string };
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  } = JSON.parse(textOf("package.json"));

  test("every dependency is pinned to one exact version", () => {
    const versions = { ...manifest.dependencies, ...manifest.devDependencies };
    const loose = Object.entries(versions).filter(([, version]) => {
      return !/^(npm:[a-z-]+@)?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version);
    });
    expect(loose).toEqual([]);
  });

  test("the product's version is written only in package.json", () => {
    // Names of releases, such as v1.0.0, are another thing.
    const written = new RegExp(`(?<![v\\d.])${RegExp.escape(manifest.version)}(?![\\d.])`);
    const places = [...code, "Dockerfile", "compose.yaml"].filter((file) => {
      return written.test(textOf(file));
    });
    expect(places).toEqual([]);
  });

  test("every place that names Bun's version names the same one", () => {
    const named = [...textOf("Dockerfile").matchAll(/\bbun[:@](\d+\.\d+\.\d+)/g)];
    expect(named.length).toBeGreaterThan(0);
    for (const [, version] of named) expect(version).toBe(manifest.engines.bun);
    expect(Bun.version).toBe(manifest.engines.bun);
  });
});

describe("documents", () => {
  test("every link inside the repository leads somewhere", () => {
    expect(documents.flatMap(brokenLinks)).toEqual([]);
  });
});

function brokenLinks(document: string): string[] {
  const text = textOf(document).replace(/```[\s\S]*?```/g, "");
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  const local = links.filter((link) => !/^[a-z]+:/.test(link));
  return local
    .filter((link) => !leadsSomewhere(document, link))
    .map((link) => `${document}: ${link}`);
}

function leadsSomewhere(document: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? document : posix.join(dirname(document), path);
  if (!existsSync(join(ROOT, target))) return false;
  if (anchor === undefined || !target.endsWith(".md")) return true;
  return anchorsOf(target).includes(anchor);
}

/** The anchors that a renderer gives to the headings of a page. */
function anchorsOf(document: string): string[] {
  const headings = [...textOf(document).matchAll(/^#{1,6}\s+(.+)$/gm)];
  return headings.map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-"),
  );
}
