import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  headerOrigin,
  originOf,
  REDIRECT_URL_PATTERN,
  requireTrustedOrigin,
} from "../../../../src/platform/billing/origins.ts";

const ALLOWED = ["https://app.example.com", "http://localhost:5173"];

function passes(header: string | null, urls: string[] = [], allowed = ALLOWED): boolean {
  try {
    requireTrustedOrigin(allowed, header, urls);
    return true;
  } catch {
    return false;
  }
}

const label = fc.stringMatching(/^[a-z0-9]{1,8}$/);

describe("billing origins", () => {
  // The properties below cover other schemes, hosts and ports, and what stands before or behind an origin.
  test.each([
    "",
    "null",
    "https://app.example.com@evil.example",
    "https://evil.example#https://app.example.com",
    "https://app.example.com, https://evil.example",
    "https://app.example.com\\.evil.example",
    "blob:https://app.example.com/x",
    "//app.example.com",
  ])("the Origin header %p is refused", (origin) => {
    expect(passes(origin)).toBe(false);
  });

  test("without an Origin header, both redirect URLs must be of allowed origins", () => {
    const good = "https://app.example.com/done?x=1#y";
    const bad = "https://app.example.com.evil.example/done";
    expect(passes(null, [good, "http://localhost:5173/"])).toBe(true);
    expect(passes(null, [good, bad])).toBe(false);
    expect(passes(null, [bad])).toBe(false);
    expect(passes(null, ["https://good@app.example.com.evil.example/"])).toBe(false);
  });

  test("the Origin header takes precedence over redirect URLs, and a request with neither passes", () => {
    expect(passes("https://evil.example", ["https://app.example.com/"])).toBe(false);
    expect(passes("https://app.example.com", ["https://shop.example/"])).toBe(true);
    expect(passes(null)).toBe(true);
  });

  test("without an allowlist, no origin is trusted", () => {
    expect(passes("https://app.example.com", [], [])).toBe(false);
    expect(passes(null, ["https://app.example.com/"], [])).toBe(false);
    expect(passes(null, [], [])).toBe(true);
  });

  test("only the exact scheme, host and port of an allowed origin pass", () => {
    const near = fc.tuple(
      fc.constantFrom("https", "http", "HTTPS"),
      fc.oneof(label, fc.constant("")),
      fc.constantFrom("app.example.com", "localhost", "example.com"),
      fc.oneof(label, fc.constant("")),
      fc.oneof(fc.constantFrom(443, 80, 5173), fc.integer({ min: 1, max: 65_535 })),
      fc.boolean(),
    );
    fc.assert(
      fc.property(near, ([scheme, before, host, after, port, hasPort]) => {
        const name = [before, host, after].filter((part) => part !== "").join(".");
        const origin = `${scheme}://${name}${hasPort ? `:${port}` : ""}`;
        const usual = scheme === "http" ? 80 : 443;
        const actual = `${scheme.toLowerCase()} ${name} ${hasPort ? port : usual}`;
        const isAllowed =
          actual === "https app.example.com 443" || actual === "http localhost 5173";
        expect(passes(origin)).toBe(isAllowed);
        expect(passes(null, [`${origin}/path`])).toBe(isAllowed);
      }),
    );
  });

  test("text that merely contains an allowed origin is not read as that origin", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const text = `${before}https://app.example.com${after}`;
        const origin = headerOrigin(text);
        if (origin === ALLOWED[0])
          expect(text.toLowerCase()).toMatch(/^https:\/\/app\.example\.com(:\d*)?$/);
      }),
      { numRuns: 500 },
    );
  });

  test("an accepted redirect URL has the same host with and without normalization", () => {
    const pattern = new RegExp(REDIRECT_URL_PATTERN);
    const piece = fc.constantFrom(
      "@",
      "\\",
      "/",
      "?",
      "#",
      " ",
      "\t",
      ":",
      ".",
      "a",
      "evil.example",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const url = `https://app.example.com${pieces.join("")}`;
        if (!pattern.test(url) || originOf(url) === null) return;
        // The most naive way to read the host: from the user's name, if any, to the first delimiter.
        const naive = /^https:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(url)?.[1] as string;
        expect(new URL(url).host).toBe(naive.replace(/:(443)?$/, ""));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    "https://user@app.example.com/",
    "ftp://app.example.com/",
    "HTTP://app.example.com",
    "com.example.app:/done",
    "myapp://billing/done?x=1#y",
    "mailto:billing@example.com",
    "datas:x",
  ])("the redirect URL %p is accepted", (url) => {
    expect(new RegExp(REDIRECT_URL_PATTERN).test(url)).toBe(true);
  });

  test.each([
    "ftp://app.example.com",
    "blob:https://app.example.com/x",
    "app:https://app.example.com",
    "mailto:a@app.example.com",
  ])("the redirect URL %p has no origin that could be allowed", (url) => {
    expect(originOf(url)).toBeNull();
    expect(passes(null, [url])).toBe(false);
  });

  test.each([
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "data:text/html,x",
    "DATA:,x",
    "vbscript:x",
    "java\tscript:alert(1)",
    "\x01javascript:alert(1)",
    "https://a@b@app.example.com/",
    "app:\x00x",
    "1app:x",
    "app:",
    "https:app.example.com",
    "https:///app.example.com",
    "https:\\\\app.example.com",
    "https://app.example.com\\@evil.example/",
    " https://app.example.com/",
    "https://app.example.com/a b",
    "/billing",
    "",
  ])("the redirect URL %p is rejected", (url) => {
    expect(new RegExp(REDIRECT_URL_PATTERN).test(url)).toBe(false);
  });
});
