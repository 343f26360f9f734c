import { expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { sharedApi } from "../../support/api/api.ts";

const api = await sharedApi();

test("the page of the API and all that it loads comes from the service itself, under a strict policy", async () => {
  const page = await fetch(`${api.url}/docs`);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toStartWith("text/html");
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("http");
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
  const html = await page.text();
  expect(html).not.toContain("//");
  // A script in the page itself would be blocked.
  expect(html).not.toMatch(/<script>|<style>| on\w+=/);
  const sources = html.matchAll(/<(?:script|link rel="stylesheet") [^>]*(?:src|href)="(\/[^"]+)"/g);
  const loaded = [...sources].map((match) => match[1] as string);
  expect(loaded.length).toBe(3);
  for (const address of loaded) {
    const file = await fetch(new URL(address, `${api.url}/docs`));
    expect(file.status, address).toBe(200);
    expect(file.headers.get("content-type"), address).toMatch(/^text\/(css|javascript)/);
    expect(file.headers.get("x-content-type-options"), address).toBe("nosniff");
  }
  expect(html).toContain('<link rel="preload" href="/docs/json" ');
  expect((await fetch(`${api.url}/docs/json`)).status).toBe(200);
});

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
