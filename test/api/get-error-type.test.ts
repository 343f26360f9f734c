import { describe, expect, test } from "bun:test";
import { CATALOGUE, type Slug } from "../../src/problem/catalogue.ts";
import { startApi } from "../../support/api/api.ts";
import { refusesBadCredentials } from "../../support/api/guards.ts";

/** The slugs that clients rely on. */
const SLUGS: readonly Slug[] = [
  "validation-failed",
  "payload-too-large",
  "request-timeout",
  "unsupported-media-type",
  "unauthorized",
  "permission-denied",
  "untrusted-billing-origin",
  "project-not-found",
  "environment-not-found",
  "release-not-found",
  "branch-not-found",
  "chunk-not-found",
  "conversation-not-found",
  "message-not-found",
  "input-request-not-found",
  "api-key-not-found",
  "error-type-not-found",
  "webhook-not-found",
  "route-not-found",
  "method-not-allowed",
  "project-slug-taken",
  "idempotency-conflict",
  "input-request-closed",
  "invalid-cursor",
  "overloaded",
  "rate-limited",
  "dependency-unavailable",
  "internal-error",
  "billing-provider-error",
  "billing-not-configured",
];

const api = await startApi();
const caller = await api.user();

describe("GET /errors/{slug}", () => {
  test("every slug of the service resolves, and so do the slugs related to it", async () => {
    const slugs = Object.keys(CATALOGUE) as Slug[];
    expect(slugs.sort()).toEqual([...SLUGS].sort());
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

  test("error types can be read with every valid credential", async () => {
    const key = await api.key(caller, { scopes: ["nothing.at.all"] });
    expect((await api.get("/errors/unauthorized", key)).status).toBe(200);
  });

  test("an unknown slug returns error-type-not-found, also if it is a name on Object.prototype", async () => {
    for (const slug of ["nope", "constructor", "__proto__", "toString", "UNAUTHORIZED", "%00"]) {
      const answer = await api.get(`/errors/${slug}`, caller);
      expect(answer.status, slug).toBe(404);
      expect(answer.body.slug).toBe("error-type-not-found");
    }
  });

  test("a conditional read of an error type returns 304", async () => {
    const etag = (await api.get("/errors/unauthorized", caller)).headers.get("etag") as string;
    const again = await api.get("/errors/unauthorized", caller, { "if-none-match": etag });
    expect(again.status).toBe(304);
    const other = await api.get("/errors/overloaded", caller, { "if-none-match": etag });
    expect(other.status).toBe(200);
  });

  refusesBadCredentials({ api, path: "/errors/unauthorized" });
});
