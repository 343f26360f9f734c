import { expect, test } from "bun:test";
import type { Scope } from "../../../../src/engine/requests/scope.ts";
import { type ProjectLoader, whenLoaded } from "../../../../src/engine/requests/when-loaded.ts";

const scope: Scope = {
  ...{ tenant: "t", projectId: "p", id: "s" },
  ...{ kind: "release", frozen: false },
};

/** A loader that gives these answers in order. */
function loaderOf(...answers: Array<boolean | undefined>): ProjectLoader {
  return {
    isLoaded: () => false,
    used() {},
    ensureWithin: async () => answers.shift(),
  };
}

test("an attempt is repeated when the project was evicted before it", async () => {
  const results = [undefined, "found"];
  const attempt = () => results.shift();
  expect(await whenLoaded(loaderOf(true, true), scope, attempt)).toBe("found");
});

test("a scope that does not exist is reported by its kind", async () => {
  const missing = whenLoaded(loaderOf(false), scope, () => "found");
  await expect(missing).rejects.toMatchObject({ slug: "release-not-found" });
});

test("a project that is still being loaded is reported as unavailable", async () => {
  const late = whenLoaded(loaderOf(true, undefined), scope, () => undefined);
  await expect(late).rejects.toMatchObject({ slug: "dependency-unavailable" });
});
