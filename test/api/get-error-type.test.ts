import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { CATALOGUE, type Slug } from "../../src/domain/problem/catalogue.ts";
import { type Caller, sharedApi } from "../../support/api/api.ts";

/** What browsers send. */
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const api = await sharedApi();
const caller = await api.user();

describe("GET /errors/{slug}", () => {
  test("every slug of the service resolves, and so do the slugs related to it", async () => {
    const slugs = Object.keys(CATALOGUE) as Slug[];
    for (const slug of slugs) {
      const { status, body } = await api.get(`/errors/${slug}`, caller);
      expect(status, slug).toBe(200);
      expect(body.slug).toBe(slug);
      expect(body.status).toBe(CATALOGUE[slug].status);
      expect(body.solution.steps.length, slug).toBeGreaterThan(0);
      for (const related of body.solution.relatedErrors ?? []) {
        expect(Object.keys(CATALOGUE), slug).toContain(related);
      }
    }
  });

  test("the type of a problem links to its error type", async () => {
    const problem = (await api.get("/conversations/none", caller)).body;
    const { pathname } = new URL(problem.type);
    const { body } = await api.get(pathname, caller);
    expect(body.title).toBe(problem.title);
    expect(body.category).toBe(problem.category);
  });

  test("an unknown slug returns error-type-not-found, also if it is a name on Object.prototype", async () => {
    for (const slug of ["nope", "constructor", "__proto__", "toString", "UNAUTHORIZED", "%00"]) {
      const answer = await api.get(`/errors/${slug}`, caller);
      expect(answer.status, slug).toBe(404);
      expect(answer.body.slug).toBe("error-type-not-found");
    }
  });

  test("a caller who prefers HTML gets a page with the same text, without a credential", async () => {
    for (const [slug, type] of Object.entries(CATALOGUE)) {
      const page = await fetch(`${api.url}/errors/${slug}`, { headers: { accept: BROWSER } });
      expect(page.status, slug).toBe(200);
      expect(page.headers.get("content-type"), slug).toStartWith("text/html");
      const policy = page.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'none'");
      expect(policy).not.toContain("unsafe");
      expect(page.headers.get("x-content-type-options")).toBe("nosniff");
      expect(page.headers.get("x-request-id")).toBeTruthy();
      const html = await page.text();
      expect(html).not.toMatch(/<script| style=| on\w+=/);
      const [, style = ""] = /<style>([\s\S]*)<\/style>/.exec(html) ?? [];
      const hash = createHash("sha256").update(style).digest("base64");
      expect(policy).toContain(`style-src 'sha256-${hash}'`);
      for (const text of [slug, type.title, type.detail, type.suggestion, ...type.steps]) {
        expect(html, slug).toContain(Bun.escapeHTML(text));
      }
    }
  });

  test("the page is the answer only where Accept prefers it, and caches are told", async () => {
    const get = (accept: string | undefined, as: Caller | undefined) =>
      fetch(`${api.url}/errors/overloaded`, {
        headers: { ...(accept === undefined ? {} : { accept }), ...as?.headers },
      });
    const pages = [BROWSER, "text/html", "TEXT/HTML;q=0.5, application/json;q=0.4", "text/*"];
    const documents = ["*/*", "application/json", "text/html, application/json", "image/png"];
    documents.push("application/json, text/html;q=0.9", "text/html;q=0, */*", "text/html;q=x");
    for (const accept of pages) {
      const page = await get(accept, caller);
      expect(page.headers.get("content-type"), accept).toStartWith("text/html");
      expect(page.headers.get("vary"), accept).toContain("Accept");
    }
    for (const accept of [undefined, ...documents]) {
      const answer = await get(accept, caller);
      expect(answer.headers.get("content-type"), accept).toBe("application/json");
      expect(answer.headers.get("vary"), accept).toContain("Accept");
      const refused = await get(accept, undefined);
      expect(refused.status, accept).toBe(401);
      expect(refused.headers.get("vary"), accept).toContain("Accept");
    }
  });

  test("a browser that asks for an unknown slug is told so, without a credential", async () => {
    for (const slug of ["nope", "constructor", "%3Cscript%3E"]) {
      const page = await fetch(`${api.url}/errors/${slug}`, { headers: { accept: BROWSER } });
      expect(page.status, slug).toBe(404);
      expect(await page.json()).toMatchObject({ slug: "error-type-not-found" });
    }
  });

  test("page and document have tags of their own", async () => {
    const page = await fetch(`${api.url}/errors/overloaded`, { headers: { accept: BROWSER } });
    const etag = page.headers.get("etag") as string;
    const headers = { accept: BROWSER, "if-none-match": etag };
    expect((await fetch(`${api.url}/errors/overloaded`, { headers })).status).toBe(304);
    const json = await api.get("/errors/overloaded", caller, { "if-none-match": etag });
    expect(json.status).toBe(200);
  });
});
