import { describe, expect, test } from "bun:test";
import { CATALOGUE, type Slug } from "../../src/problem/catalogue.ts";
import { startApi } from "../support/api.ts";
import { refusesBadCredentials } from "../support/guards.ts";

/** What clients have been promised by name. */
const PROMISED: readonly Slug[] = [
  "validation-failed",
  "payload-too-large",
  "unsupported-media-type",
  "unauthorized",
  "permission-denied",
  "untrusted-billing-origin",
  "project-not-found",
  "environment-not-found",
  "release-not-found",
  "branch-not-found",
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
  "dependency-unavailable",
  "internal-error",
  "billing-provider-error",
  "billing-not-configured",
];

const api = await startApi();
const caller = await api.user();

describe("GET /errors/{slug}", () => {
  test("every slug that the service can emit resolves, and relates to ones that do", async () => {
    const slugs = Object.keys(CATALOGUE) as Slug[];
    expect(slugs.sort()).toEqual([...PROMISED].sort());
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

  test("the type of a problem leads to its description", async () => {
    const problem = (await api.get("/conversations/none", caller)).body;
    const { pathname } = new URL(problem.type);
    const { body } = await api.get(pathname, caller);
    expect(body.title).toBe(problem.title);
    expect(body.category).toBe(problem.category);
  });

  test("any valid credential will do", async () => {
    const key = await api.key(caller, { scopes: ["nothing.at.all"] });
    expect((await api.get("/errors/unauthorized", key)).status).toBe(200);
  });

  test("an unknown slug answers error-type-not-found, names of object members too", async () => {
    for (const slug of ["nope", "constructor", "__proto__", "toString", "UNAUTHORIZED", "%00"]) {
      const answer = await api.get(`/errors/${slug}`, caller);
      expect(answer.status, slug).toBe(404);
      expect(answer.body.slug).toBe("error-type-not-found");
    }
  });

  test("a reader who has it gets 304", async () => {
    const etag = (await api.get("/errors/unauthorized", caller)).headers.get("etag") as string;
    const again = await api.get("/errors/unauthorized", caller, { "if-none-match": etag });
    expect(again.status).toBe(304);
    const other = await api.get("/errors/overloaded", caller, { "if-none-match": etag });
    expect(other.status).toBe(200);
  });

  refusesBadCredentials({ api, path: "/errors/unauthorized" });
});
