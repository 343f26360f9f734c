import { describe, expect, test } from "bun:test";
import { sharedApi } from "../../support/api/api.ts";

const api = await sharedApi();

/** The addresses that the page refers to. */
async function files(): Promise<string[]> {
  const html = await (await fetch(`${api.url}/console`)).text();
  const found = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, link]) => link as string);
  const links = [...new Set(found)];
  for (const link of links) expect(link).toStartWith("/console/");
  expect(links).toHaveLength(3);
  return links;
}

describe("GET /console", () => {
  test("the console and its files need no credential and are sent under a strict policy", async () => {
    for (const path of ["/console", ...(await files())]) {
      const { status, headers } = await fetch(`${api.url}${path}`);
      expect(status, path).toBe(200);
      const policy = headers.get("content-security-policy") ?? "";
      for (const directive of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "require-trusted-types-for 'script'",
      ]) {
        expect(policy.split("; "), path).toContain(directive);
      }
      expect(policy).not.toMatch(/unsafe|http|\*/);
      expect(headers.get("x-content-type-options"), path).toBe("nosniff");
      expect(headers.get("x-frame-options"), path).toBe("DENY");
      expect(headers.get("referrer-policy"), path).toBe("no-referrer");
    }
  });

  test("the whole page has less than 150 KB compressed", async () => {
    const sizes = ["/console", ...(await files())].map(async (path) => {
      const headers = { "accept-encoding": "br" };
      const response = await fetch(`${api.url}${path}`, { headers, decompress: false });
      expect(response.headers.get("content-encoding"), path).toBe("br");
      return (await response.arrayBuffer()).byteLength;
    });
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThan(150_000);
  });

  test("an unchanged file is answered 304 to its tag", async () => {
    for (const path of ["/console", "/console/main.js"]) {
      const etag = (await fetch(`${api.url}${path}`)).headers.get("etag") as string;
      const again = await fetch(`${api.url}${path}`, { headers: { "if-none-match": etag } });
      expect([again.status, await again.text()], path).toEqual([304, ""]);
    }
  });

  test("another method is answered 405, and an unknown file 404", async () => {
    expect((await api.send("POST", "/console")).status).toBe(405);
    expect((await api.get("/console/none.js")).status).toBe(404);
    expect((await api.get("/console/..%2fpages.ts")).status).toBe(404);
  });
});
