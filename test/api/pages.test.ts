import { describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { sharedApi } from "../../support/api/api.ts";

const api = await sharedApi();
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/** The page, and the scripts and styles that it loads. */
async function filesOf(page: string): Promise<string[]> {
  const html = await (await fetch(`${api.url}${page}`)).text();
  const tags = html.matchAll(/<(?:script|link rel="stylesheet") [^>]*(?:src|href)="(\/[^"]+)"/g);
  return [page, ...[...tags].map(([, address]) => address as string)];
}

test.each([
  ["/docs", []],
  ["/console", ["style-src 'self'", "require-trusted-types-for 'script'"]],
])(
  "the page %s and all that it loads come from the service itself, without a credential, under a strict policy",
  async (page, more) => {
    const html = await (await fetch(`${api.url}${page}`)).text();
    expect(html).not.toContain('="//');
    expect(html).not.toContain('="http');
    // A script in the page itself would be blocked.
    expect(html).not.toMatch(/<script>|<style>| on\w+=/);
    const files = await filesOf(page);
    expect(files.length).toBeGreaterThan(2);
    for (const path of files) {
      const { status, headers } = await fetch(`${api.url}${path}`);
      expect(status, path).toBe(200);
      expect(headers.get("content-type"), path).toMatch(/^text\/(html|css|javascript)/);
      const policy = headers.get("content-security-policy") ?? "";
      for (const part of [
        ...["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", ...more],
      ]) {
        expect(policy.split("; "), path).toContain(part);
      }
      // What shows the API has styles in its elements.
      expect(policy.replace("'unsafe-inline'", ""), path).not.toMatch(/unsafe|http|\*/);
      expect(headers.get("x-content-type-options"), path).toBe("nosniff");
      expect(headers.get("x-frame-options"), path).toBe("DENY");
      expect(headers.get("referrer-policy"), path).toBe("no-referrer");
    }
  },
);

test("the document is sent compressed to who accepts it, and only if it has changed", async () => {
  const get = (headers: Record<string, string>, path = "/docs/json") =>
    fetch(`${api.url}${path}`, { headers, decompress: false });
  const plain = await get({ "accept-encoding": "identity" });
  const text = await plain.text();
  expect(plain.headers.get("content-encoding")).toBeNull();
  const tags = [plain.headers.get("etag") as string];
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const [coding, decode] of Object.entries(decoders)) {
    const preferred = await get({ "accept-encoding": `deflate, ${coding}` });
    expect(preferred.headers.get("content-encoding")).toBe(coding);
    expect(preferred.headers.get("vary")).toContain("Accept-Encoding");
    expect(String(decode(await preferred.bytes()))).toBe(text);
    const tag = preferred.headers.get("etag") as string;
    tags.push(tag);
    const again = await get({ "accept-encoding": coding, "if-none-match": tag });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  }
  const without = await get({ "accept-encoding": "gzip, br;q=0" });
  expect(without.headers.get("content-encoding")).toBe("gzip");
  expect(String(gunzipSync(await without.bytes()))).toBe(text);
  // Different bytes have different tags.
  expect(new Set(tags).size).toBe(3);
  const same = { "accept-encoding": "identity", "if-none-match": tags[0] as string };
  expect((await get(same, "/openapi.json")).status).toBe(304);
});

test("answers and problems of the API must not be taken for another type", async () => {
  const user = await api.user();
  for (const path of ["/errors/overloaded", "/conversations/none", "/nowhere"]) {
    const { headers } = await api.get(path, user);
    expect(headers.get("x-content-type-options"), path).toBe("nosniff");
  }
});

describe("GET /console", () => {
  test("the whole page has less than 150 KB compressed", async () => {
    const sizes = (await filesOf("/console")).map(async (path) => {
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

describe("the address of the service itself", () => {
  test("sends browsers to the console, and tells others where everything is", async () => {
    const page = await fetch(`${api.url}/`, { redirect: "manual", headers: { accept: BROWSER } });
    expect(page.status).toBe(302);
    expect(page.headers.get("location")).toBe("/console");
    const body = (await (await fetch(api.url)).json()) as Record<string, string>;
    const { console = "", docs = "", openapi = "", health = "", ...rest } = body;
    expect(rest).toEqual({ name: "Tessera", version: expect.any(String) });
    expect(health).toBe("/readyz");
    for (const path of [console, docs, openapi]) {
      expect((await fetch(`${api.url}${path}`)).status, path).toBe(200);
    }
  });

  test("has the OpenAPI document at /openapi.json", async () => {
    const document = await fetch(`${api.url}/openapi.json`);
    expect(document.headers.get("content-type")).toStartWith("application/json");
    const other = await fetch(`${api.url}/docs/json`);
    expect(await document.text()).toBe(await other.text());
  });
});
