import { expect, test } from "bun:test";
import { SEARCH_LOAD_TIMEOUT_MS, SEARCH_SCOPE_TIMEOUT_MS } from "../../../../src/domain/limits.ts";
import type { Scope } from "../../../../src/domain/scope.ts";
import { type ProjectLoader, whenLoaded } from "../../../../src/index/when-loaded.ts";

const scope: Scope = {
  tenant: "t",
  projectId: "p",
  id: "s",
  kind: "release",
  frozen: false,
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

test("a scope that an import has just created is waited for longer than a project that is not loaded", async () => {
  const waits: number[] = [];
  const waiting = (isLoaded: boolean): ProjectLoader => ({
    isLoaded: () => isLoaded,
    used() {},
    async ensureWithin(_, timeoutMs) {
      waits.push(timeoutMs);
      return undefined;
    },
  });
  const project = whenLoaded(waiting(false), scope, () => "found");
  await expect(project).rejects.toThrow("The project's index is still being loaded.");
  const created = whenLoaded(waiting(true), scope, () => "found");
  await expect(created).rejects.toThrow("The release's index is still being built.");
  expect(waits).toEqual([SEARCH_LOAD_TIMEOUT_MS, SEARCH_SCOPE_TIMEOUT_MS]);
});
