import { describe, expect, test } from "bun:test";
import { Turns } from "../../../../src/content/embeddings/queue/turns.ts";

const project = (id: string, tenant: string) => ({ id, tenant });

/** Requests until the clock reaches an end, one after the other, and their time by project. */
function shares(
  turns: Turns,
  clock: { now: number },
  until: number,
  costs: ReadonlyArray<[id: string, tenant: string, ms: number]>,
): Record<string, number> {
  const spent: Record<string, number> = {};
  const waiting = costs.map(([id, tenant]) => project(id, tenant));
  while (clock.now < until) {
    const next = turns.choose(waiting);
    const [, , ms] = costs.find(([id]) => id === next?.id) ?? ["", "", 0];
    const end = turns.begin(next ?? project("", ""));
    clock.now += ms;
    end();
    spent[next?.id ?? ""] = (spent[next?.id ?? ""] ?? 0) + ms;
  }
  return spent;
}

describe("the turns of an embedder", () => {
  test("give tenants equal time, however slow the requests of one are", () => {
    const clock = { now: 0 };
    const turns = new Turns(Infinity, () => clock.now);
    const spent = shares(turns, clock, 10_000, [
      ["slow", "a", 400],
      ["fast", "b", 10],
      ["other", "b", 20],
    ]);
    expect(spent["slow"]).toBeWithin(4_500, 5_500);
    expect((spent["fast"] ?? 0) / (spent["other"] ?? 1)).toBeWithin(0.8, 1.2);
  });

  test("give a tenant with nothing under way the next one", () => {
    const turns = new Turns(Infinity, () => 0);
    turns.begin(project("p", "a"));
    expect(turns.choose([project("p", "a"), project("q", "b")])?.id).toBe("q");
  });

  test("leave room for others beside a tenant with as many passes as it may have", () => {
    const turns = new Turns(2, () => 0);
    const [end] = [turns.begin(project("p", "a")), turns.begin(project("p", "a"))];
    const others = [project("p", "a"), project("q", "a")];
    expect(turns.choose(others)).toBeUndefined();
    expect(turns.choose([...others, project("r", "b")])?.id).toBe("r");
    end?.();
    expect(turns.choose(others)?.tenant).toBe("a");
  });

  test("give no credit for time without use", () => {
    const clock = { now: 0 };
    const turns = new Turns(Infinity, () => clock.now);
    shares(turns, clock, 100, [["late", "b", 10]]);
    shares(turns, clock, 5_000, [["busy", "a", 100]]);
    const spent = shares(turns, clock, 7_000, [
      ["busy", "a", 100],
      ["late", "b", 100],
      ["newer", "a", 100],
    ]);
    expect(spent["late"]).toBeWithin(800, 1_201);
    expect(spent["newer"]).toBeWithin(300, 701);
  });
});
