import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { INDEX_IDLE_MS } from "../../../../src/domain/limits.ts";
import { byIdleTime } from "../../../../src/index/projects/idle-time.ts";
import { SEED } from "../../../../support/seed.ts";

interface Held {
  readonly name: string;
  readonly tenant: string;
  readonly bytes: number;
  usedAt: number;
}

const CAPACITY = 10;

/** Uses a project, which is loaded if necessary, and unloads those that are idle for longest. */
function use(memory: Held[], tenant: string, name: string, now: number): boolean {
  const known = memory.find((held) => held.name === name);
  if (known !== undefined) known.usedAt = now;
  else memory.push({ name, tenant, bytes: 1, usedAt: now });
  while (memory.length > CAPACITY) {
    const longest = byIdleTime(memory, now)[0]?.name;
    memory.splice(
      memory.findIndex((held) => held.name === longest),
      1,
    );
  }
  return known === undefined;
}

describe("the projects that are evicted first", () => {
  test("a tenant who goes through more projects than fit into memory does not evict the one that another uses now and then", () => {
    const memory: Held[] = [];
    let [loads, greedyLoads] = [0, 0];
    for (let now = 0; now < 60_000; now += 100) {
      if (use(memory, "greedy", `greedy ${(now / 100) % 40}`, now)) greedyLoads++;
      if (now % 5_000 === 0 && use(memory, "modest", "modest", now)) loads++;
    }
    expect(loads).toBe(1);
    expect(greedyLoads).toBe(600);
  });

  test("a project that is not used any more is evicted in the end, also that of a small tenant", () => {
    const memory: Held[] = [];
    use(memory, "modest", "modest", 0);
    for (let now = 0; now < 60_000; now += 100) {
      use(memory, "greedy", `greedy ${(now / 100) % 40}`, now);
    }
    expect(memory.some(({ tenant }) => tenant === "modest")).toBe(false);
  });

  test("a project that was not used for a minute counts as idle, however little its tenant holds", () => {
    const small = { name: "small", tenant: "modest", bytes: 1, usedAt: 0 };
    const large = { name: "large", tenant: "greedy", bytes: 1_000_000, usedAt: 60_000 };
    const [first] = byIdleTime([large, small], 60_000);
    expect(first).toMatchObject({ name: "small", idleMs: INDEX_IDLE_MS });
  });

  test("the projects of each tenant come in the order of their last use, whatever they hold", () => {
    const held = fc.record({
      name: fc.uuid(),
      tenant: fc.constantFrom("a", "b", "c"),
      bytes: fc.nat(1_000),
      usedAt: fc.nat(1_000),
    });
    fc.assert(
      fc.property(fc.array(held, { maxLength: 20 }), (projects) => {
        const ordered = byIdleTime(projects, 1_000);
        expect(ordered.map(({ name }) => name).toSorted()).toEqual(
          projects.map(({ name }) => name).toSorted(),
        );
        for (const [i, { idleMs, tenant, usedAt }] of ordered.entries()) {
          expect(idleMs).toBeLessThanOrEqual(1_000 - usedAt);
          const later = ordered.slice(i + 1).filter((other) => other.tenant === tenant);
          for (const other of later) expect(other.usedAt).toBeGreaterThanOrEqual(usedAt);
        }
      }),
      { seed: SEED },
    );
  });
});
