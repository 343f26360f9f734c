import fc from "fast-check";
import type { Scene, Tenant } from "./tenant.ts";

export type Command = fc.AsyncCommand<Tenant, Scene, true>;
export type Commands = readonly fc.WeightedArbitrary<Command>[];

/**
 * A step of a client: requests and what they must lead to. Its parameters choose among what the
 * tenant has, so it stays meaningful when shrinking drops earlier steps.
 */
export function command<P extends object>(
  name: string,
  params: P,
  perform: (tenant: Tenant, scene: Scene, params: P) => Promise<void>,
): Command {
  const describe = () => `${name} ${JSON.stringify(params)}`;
  return {
    check: async () => true,
    async run(tenant, scene) {
      if (scene.failed) return;
      scene.requests.tally.command(name);
      try {
        await perform(tenant, scene, params);
      } catch (error) {
        scene.failed = true;
        throw new Error(`${describe()}: ${(error as Error).message}`, { cause: error });
      }
    },
    toString: describe,
  };
}

/** Steps with random parameters, which are the more frequent the greater their weight is. */
export const weighted = <P extends object>(
  weight: number,
  name: string,
  params: { [K in keyof P]: fc.Arbitrary<P[K]> },
  perform: (tenant: Tenant, scene: Scene, params: P) => Promise<void>,
) => ({
  weight,
  arbitrary: fc.record<P>(params).map((given) => command(name, given, perform)),
});

/** The element that a number chooses. */
export function pick<T>(items: Iterable<T>, number: number): T {
  const all = [...items];
  return all[number % all.length] as T;
}

/** Throws unless both are the same JSON. */
export function same(what: string, actual: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`);
}
