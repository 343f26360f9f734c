import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { guidePages } from "../../src/http/static/guides.ts";
import { sharedApi } from "../../support/api/api.ts";

const api = await sharedApi();
const FOLDER = join(import.meta.dir, "../../docs");
/** What only who changes Tessera reads. */
const FOR_DEVELOPERS = ["folders", "release"];

const paths = [...guidePages("").keys()];
const pages = new Map<string, string>();
for (const path of paths) pages.set(path, await (await fetch(`${api.url}${path}`)).text());

const linksOf = (html: string) =>
  [...html.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, href = ""]) => href);
const idsOf = (html: string) => [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id);

describe("the guides", () => {
  test("are all pages of the documentation but those for who changes Tessera, and a list of them", () => {
    const written = readdirSync(FOLDER)
      .filter((name) => name.endsWith(".md"))
      .map((name) => name.slice(0, -".md".length))
      .filter((name) => !FOR_DEVELOPERS.includes(name));
    const shown = written.map((name) => `/docs/guides/${name}`);
    expect(paths.toSorted()).toEqual(["/docs/guides", ...shown].sort());
    expect(linksOf(pages.get("/docs/guides") as string)).toEqual(expect.arrayContaining(shown));
  });

  test("have no link that leads nowhere, and lead to the reference and the console", async () => {
    const broken: string[] = [];
    const others = new Set(["/docs", "/console"]);
    for (const [path, html] of pages) {
      const links = linksOf(html);
      expect(links, path).toEqual(expect.arrayContaining(["/docs", "/docs/guides", "/console"]));
      for (const link of links.filter((link) => !link.startsWith("http"))) {
        const [page = "", anchor] = link.split("#");
        const target = pages.get(page === "" ? path : page);
        const isAnchor =
          anchor === undefined || (target !== undefined && idsOf(target).includes(anchor));
        if ((target === undefined && !others.has(page)) || !isAnchor)
          broken.push(`${path}: ${link}`);
      }
    }
    expect(broken).toEqual([]);
    expect(linksOf(await (await fetch(`${api.url}/docs`)).text())).toContain("/docs/guides");
  });

  test("name what the service does not show, such as its sources, without a link", () => {
    const html = pages.get("/docs/guides/capacity") as string;
    expect(html).toContain("<a><code>bench/nodes</code></a>");
    expect(html).not.toContain("not run:");
  });

  test("have anchors of their own for every heading", () => {
    for (const [path, html] of pages) {
      expect(new Set(idsOf(html)).size, path).toBe(idsOf(html).length);
    }
  });

  test("have no scripts, load nothing from other hosts, and are sent unless the browser has them", async () => {
    const page = await fetch(`${api.url}/docs/guides/filters`);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("script-src 'none'");
    expect(policy).not.toContain("http");
    const tag = page.headers.get("etag") as string;
    const again = await fetch(page.url, { headers: { "if-none-match": tag } });
    expect(again.status).toBe(304);
    for (const [path, html] of pages) {
      expect(html, path).not.toMatch(/<script|<(?:img|link)[^>]+(?:src|href)="http| on\w+="/);
    }
  });

  test("have links below the path of the service", async () => {
    const page = await guidePages("/tessera").get("/docs/guides/filters")?.();
    const links = linksOf(page ?? "").filter((link) => !/^(?:http|#)/.test(link));
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((link) => !link.startsWith("/tessera/"))).toEqual([]);
  });
});
