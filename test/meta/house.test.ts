import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { codeOf, filesOf, ROOT, textOf } from "./sources.ts";

const documents = filesOf("*.md", "{docs,bench,src,native,support,test}/**/*.md");

describe("the state of the repository", () => {
  test("commands write to the terminal in one place, which removes its codes from texts of others", () => {
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
      "src/embed/embedders/transport.ts",
      // A command follows the redirects of the hub that its user names, and takes as much as was stated before.
      "src/embed/models/hub/download.ts",
      "src/ops/observability/tracing.ts",
    ];
    expect(calling.sort()).toEqual(senders);
    const guarded = filesOf("src/**/*.ts").filter((file) =>
      /\b(tracedFetch|boundedFetch)\b/.test(codeOf(file)),
    );
    for (const file of [...calling, ...guarded]) {
      if (!senders.includes(file)) expect(codeOf(file)).toContain("boundedFetch(");
    }
  });

  test("no test is skipped unless a program or a small disk is missing", () => {
    const tests = filesOf("test/**/*.test.ts").filter(
      (file) => file !== "test/meta/programs.test.ts",
    );
    const call = "lacks(?:SmallDisks)?\\([^()]*\\)";
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
  test("every place that names Bun's version names the same one", () => {
    const named = [...textOf("Dockerfile").matchAll(/\bbun[:@](\d+\.\d+\.\d+)/g)];
    expect(named.length).toBeGreaterThan(0);
    const { engines } = JSON.parse(textOf("package.json"));
    for (const [, version] of named) expect(version).toBe(engines.bun);
    expect(Bun.version).toBe(engines.bun);
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
