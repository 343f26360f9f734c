import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FairQueue } from "../../../../src/ops/tenants/fair-queue.ts";
import { SEED } from "../../../../support/seed.ts";

interface Item {
  readonly tenant: string;
  readonly number: number;
}

const MAX_WORK = 40;
const MAX_WAIT_MS = 250;

function world() {
  const dropped: Item[] = [];
  const clock = { now: 0 };
  const queue = new FairQueue<Item>({
    maxWork: MAX_WORK,
    minLength: 1,
    maxCost: MAX_WORK / 4,
    quantum: 1,
    maxWaitMs: MAX_WAIT_MS,
    onDrop: (item) => dropped.push(item),
    now: () => clock.now,
  });
  return { queue, dropped, clock };
}

/** Takes everything that waits. */
function drain(queue: FairQueue<Item>): string[] {
  const order: string[] = [];
  for (let item = queue.shift(); item; item = queue.shift()) {
    order.push(`${item.tenant}${item.number}`);
  }
  return order;
}

describe("the fair queue", () => {
  test("a few entries may wait for any time, however slow they are", () => {
    const clock = { now: 0 };
    const dropped: number[] = [];
    const queue = new FairQueue<number>({
      maxWork: 10,
      minLength: 16,
      maxCost: 10,
      quantum: 1,
      maxWaitMs: MAX_WAIT_MS,
      onDrop: (item) => dropped.push(item),
      now: () => clock.now,
    });
    for (let number = 0; number < 16; number++) expect(queue.push("a", number, 10)).toBe(true);
    expect(queue.push("a", 16, 10)).toBe(false);
    clock.now = 10 * MAX_WAIT_MS;
    for (let number = 0; number < 16; number++) expect(queue.shift()).toBe(number);
    expect(dropped).toEqual([]);
  });

  test("serves tenants in turns, and each tenant in the order of arrival", () => {
    const { queue } = world();
    for (let number = 0; number < 4; number++) queue.push("a", { tenant: "a", number }, 1);
    for (let number = 0; number < 2; number++) queue.push("b", { tenant: "b", number }, 1);
    expect(drain(queue)).toEqual(["a0", "b0", "a1", "b1", "a2", "a3"]);
    expect(queue.length).toBe(0);
    expect(queue.work).toBe(0);
  });

  test("shares by cost and not by number", () => {
    const { queue } = world();
    for (let number = 0; number < 8; number++) queue.push("costly", { tenant: "c", number }, 4);
    for (let number = 0; number < 8; number++) queue.push("quick", { tenant: "q", number }, 1);
    const first = drain(queue).slice(0, 10);
    expect(first.filter((name) => name.startsWith("q")).length).toBe(8);
  });

  test("a full queue makes room for a small tenant by the newest entries of the largest one", () => {
    const { queue, dropped } = world();
    for (let number = 0; number < MAX_WORK; number++) {
      expect(queue.push("a", { tenant: "a", number }, 1)).toBeTrue();
    }
    expect(queue.push("a", { tenant: "a", number: 99 }, 1)).toBeFalse();
    expect(queue.push("b", { tenant: "b", number: 0 }, 1)).toBeTrue();
    expect(dropped).toEqual([{ tenant: "a", number: MAX_WORK - 1 }]);
    expect(drain(queue).slice(0, 2)).toEqual(["a0", "b0"]);
  });

  test("tells beforehand whom it would refuse, whatever has come and gone", () => {
    const step = fc.record({
      tenant: fc.constantFrom("a", "b", "c"),
      cost: fc.integer({ min: 1, max: MAX_WORK }),
      taken: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { queue, dropped } = world();
        for (const [number, { tenant, cost, taken }] of steps.entries()) {
          const room = queue.hasRoom(tenant, cost);
          const before = dropped.length;
          expect(queue.push(tenant, { tenant, number }, cost)).toBe(room);
          expect(dropped.slice(before).some((item) => item.tenant === tenant)).toBeFalse();
          for (let i = 0; i < taken; i++) queue.shift();
        }
      }),
      { seed: SEED },
    );
  });

  test("an entry of any cost fits into an empty queue", () => {
    const { queue } = world();
    expect(queue.push("a", { tenant: "a", number: 0 }, Number.POSITIVE_INFINITY)).toBeTrue();
    expect(drain(queue)).toEqual(["a0"]);
  });

  test("after a stall, only tenants above their share lose entries that waited too long", () => {
    const { queue, dropped, clock } = world();
    for (let number = 0; number < 30; number++) queue.push("a", { tenant: "a", number }, 1);
    queue.push("b", { tenant: "b", number: 0 }, 1);
    clock.now = MAX_WAIT_MS + 1;
    const served = drain(queue);
    expect(served).toContain("b0");
    expect(dropped.length).toBe(10);
    expect(dropped.every(({ tenant }) => tenant === "a")).toBeTrue();
  });

  test("a tenant with a tenth of the capacity is never refused and hardly waits, whatever another sends", () => {
    for (const flood of [1, 2, 5, 10, 100]) {
      const { queue, dropped, clock } = world();
      const waits: number[] = [];
      let served = 0;
      // The server takes one entry per millisecond.
      for (; clock.now < 5_000; clock.now++) {
        const number = clock.now;
        for (let i = 0; i < flood; i++) queue.push("greedy", { tenant: "greedy", number }, 1);
        if (number % 10 === 0) {
          expect(queue.push("polite", { tenant: "polite", number }, 1)).toBeTrue();
        }
        const next = queue.shift();
        if (next !== undefined) served++;
        if (next?.tenant === "polite") waits.push(clock.now - next.number);
      }
      expect(dropped.some(({ tenant }) => tenant === "polite")).toBeFalse();
      expect(Math.max(...waits)).toBeLessThanOrEqual(2);
      expect(waits.length).toBeGreaterThanOrEqual(499);
      // The rest of the capacity is used, so nothing that is served comes too late.
      expect(served).toBe(5_000);
    }
  });

  test("tenants that all send too much get the same", () => {
    const { queue, clock } = world();
    const served = new Map<string, number>();
    for (; clock.now < 20_000; clock.now++) {
      for (let i = 0; i < 3; i++) {
        const tenant = `t${(clock.now * 3 + i) % 20}`;
        queue.push(tenant, { tenant, number: clock.now }, 1);
      }
      const next = queue.shift() as Item;
      served.set(next.tenant, (served.get(next.tenant) ?? 0) + 1);
    }
    const counts = [...served.values()];
    expect(served.size).toBe(20);
    expect(Math.max(...counts) / Math.min(...counts)).toBeLessThan(1.1);
  });
});
