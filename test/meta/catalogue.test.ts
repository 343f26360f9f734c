import { describe, expect, test } from "bun:test";
import { Glob } from "bun";
import { CATALOGUE, errorType, problemCode, type Slug } from "../../src/problem/catalogue.ts";

const slugs = Object.keys(CATALOGUE) as Slug[];

async function sources(): Promise<string> {
  const files = await Array.fromAsync(new Glob("src/**/*.ts").scan("."));
  const texts = files
    .filter((file) => !file.endsWith("problem/catalogue.ts"))
    .map((file) => Bun.file(file).text());
  return (await Promise.all(texts)).join("\n");
}

describe("the error catalogue", () => {
  test("has a well-formed slug, a status and words of help for every type", () => {
    for (const slug of slugs) {
      const type = CATALOGUE[slug];
      expect(slug).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(problemCode(slug)).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
      expect(type.status).toBeWithin(400, 600);
      expect(type.steps.length).toBeGreaterThan(0);
      for (const text of [type.title, type.detail, type.suggestion]) expect(text).not.toBe("");
    }
  });

  test("relates types only to types that exist", () => {
    for (const slug of slugs) {
      for (const related of errorType(slug)?.related ?? [])
        expect(slugs).toContain(related as Slug);
    }
  });

  test("says when to retry for every type that promises Retry-After", () => {
    for (const slug of slugs) {
      const type = errorType(slug);
      if (type?.status === 503) expect(type.retryAfterSeconds).toBeGreaterThan(0);
    }
  });

  test("holds no type that the service never emits", async () => {
    const text = await sources();
    for (const slug of slugs)
      expect(text.includes(`"${slug}"`) ? slug : `unused: ${slug}`).toBe(slug);
  });

  test("does not resolve names that objects merely inherit", () => {
    for (const name of ["constructor", "toString", "__proto__"])
      expect(errorType(name)).toBeUndefined();
  });
});
