import { describe, expect, test } from "bun:test";
import { Glob } from "bun";
import {
  CATALOGUE,
  errorType,
  problemCode,
  type Slug,
} from "../../src/domain/problem/catalogue.ts";

const slugs = Object.keys(CATALOGUE) as Slug[];

async function sources(): Promise<string> {
  const files = await Array.fromAsync(new Glob("src/**/*.ts").scan("."));
  const texts = files
    .filter((file) => !file.endsWith("problem/catalogue.ts"))
    .map((file) => Bun.file(file).text());
  return (await Promise.all(texts)).join("\n");
}

describe("the error catalogue", () => {
  test("every error type has a well-formed slug, a status and help texts", () => {
    for (const slug of slugs) {
      const type = CATALOGUE[slug];
      expect(slug).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(problemCode(slug)).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
      expect(type.status).toBeWithin(400, 600);
      expect(type.steps.length).toBeGreaterThan(0);
      for (const text of [type.title, type.detail, type.suggestion]) expect(text).not.toBe("");
    }
  });

  test("every related error type exists", () => {
    for (const slug of slugs) {
      for (const related of errorType(slug)?.related ?? [])
        expect(slugs).toContain(related as Slug);
    }
  });

  test("every error type with status 503 has a Retry-After", () => {
    for (const slug of slugs) {
      const type = errorType(slug);
      if (type?.status === 503) expect(type.retryAfterSeconds).toBeGreaterThan(0);
    }
  });

  test("every error type is used by the service", async () => {
    const text = await sources();
    for (const slug of slugs)
      expect(text.includes(`"${slug}"`) ? slug : `unused: ${slug}`).toBe(slug);
  });

  test("inherited property names are not error types", () => {
    for (const name of ["constructor", "toString", "__proto__"])
      expect(errorType(name)).toBeUndefined();
  });
});
