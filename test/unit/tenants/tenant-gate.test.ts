import { describe, expect, test } from "bun:test";
import { openGates } from "../../../src/http/load/gates.ts";
import { OVERLOADED } from "../../../src/problem/problem.ts";
import {
  DATABASE_PLACES_MAX,
  GATE_WAITING_MAX,
  TURN_STARTS_MAX,
} from "../../../src/shared/limits.ts";
import { TenantGate } from "../../../src/tenants/tenant-gate.ts";

const GREEDY = "greedy";
const turn = () => new Promise((resolve) => setImmediate(resolve));
const gates = () => openGates({ refuses: () => false }, DATABASE_PLACES_MAX);

describe("the gate of the database", () => {
  test("a tenant whose requests take all places for good keeps nobody else from being admitted", async () => {
    const { database } = gates();
    const admitted: string[] = [];
    const enter = async (tenant: string) => {
      await database.enter(tenant);
      admitted.push(tenant);
    };
    for (let i = 0; i < 200; i++) enter(GREEDY).catch(() => {});
    await turn();
    expect(admitted.length).toBe(DATABASE_PLACES_MAX / 2);
    for (const tenant of ["polite", "modest"]) {
      await enter(tenant);
      database.leave(tenant);
    }
    await turn();
    expect(admitted.slice(-2)).toEqual(["polite", "modest"]);
  });

  test("who waits for a place gets one that is free again, and tenants take turns", async () => {
    const { database } = gates();
    const order: string[] = [];
    const enter = async (tenant: string) => {
      await database.enter(tenant);
      order.push(tenant);
    };
    const running = Array.from({ length: 40 }, () => enter(GREEDY));
    running.push(...Array.from({ length: 12 }, () => enter("polite")));
    for (let done = 0; done < running.length; done++) {
      while (order.length <= done) await turn();
      database.leave(order[done] as string);
    }
    await Promise.all(running);
    // The greedy tenant was first, and yet all of the polite one's were admitted before half of its own.
    expect(order.lastIndexOf("polite")).toBeLessThan(36);
  });

  test("too many that wait are refused at the expense of the tenant with the most", async () => {
    const { database } = gates();
    let refused = 0;
    const note = (error: unknown) => {
      expect(error).toBe(OVERLOADED);
      refused++;
    };
    const places = DATABASE_PLACES_MAX / 2;
    const enter = async (tenant: string) => database.enter(tenant);
    for (let i = 0; i < places + GATE_WAITING_MAX + 10; i++) {
      enter(GREEDY).catch(note);
    }
    await turn();
    expect(refused).toBe(10);
    let isRefused = false;
    for (let i = 0; i < places; i++) {
      enter("polite").catch(() => {
        isRefused = true;
      });
    }
    await turn();
    expect(isRefused).toBeFalse();
    expect(refused).toBeGreaterThan(10);
  });
});

test("a turn of the event loop starts a bounded number of one tenant's requests, and then another's", async () => {
  const { starts } = gates();
  const started: string[] = [];
  const start = async (tenant: string) => {
    await starts.enter(tenant);
    started.push(tenant);
  };
  const all = Array.from({ length: 200 }, () => start(GREEDY));
  all.push(start("polite"));
  await Promise.resolve();
  expect(started.length).toBe(TURN_STARTS_MAX / 2 + 1);
  expect(started).toContain("polite");
  await Promise.all(all);
});

describe("a gate", () => {
  test("lets one tenant have half of its places, and others always find some", () => {
    const gate = new TenantGate({ places: 64 });
    const take = (tenant: string) => {
      let taken = 0;
      for (; gate.hasRoom(tenant); taken++) gate.hold(tenant);
      return taken;
    };
    expect(take("a")).toBe(32);
    expect(take("b")).toBe(16);
    expect(take("c")).toBe(8);
    expect(gate.hasRoom("a")).toBeFalse();
    for (let i = 0; i < 32; i++) gate.leave("a");
    expect(gate.hasRoom("a")).toBeTrue();
  });

  test("lets no request of a tenant overtake one that waits, although there is room for it", async () => {
    const gate = new TenantGate({ places: 4, tenantPlaces: 4, maxWaiting: 10 });
    const entered: string[] = [];
    expect(gate.enter("a", 3)).toBeUndefined();
    const waiting = [2, 1].map((cost) =>
      gate.enter("a", cost)?.then(() => entered.push(`${cost}`)),
    );
    expect(gate.enter("b", 1)).toBeUndefined();
    gate.leave("b", 1);
    gate.leave("a", 3);
    await Promise.all(waiting);
    expect(entered).toEqual(["2", "1"]);
  });

  test("without room to wait refuses, and frees the places of work that failed", async () => {
    const gate = new TenantGate({ places: 2 });
    const { promise, reject } = Promise.withResolvers<never>();
    const failing = gate.run("a", () => promise);
    let isStarted = false;
    const refused = gate.run("a", async () => {
      isStarted = true;
    });
    await expect(refused).rejects.toBe(OVERLOADED);
    expect(await gate.run("b", async () => "done")).toBe("done");
    reject(new Error("failed"));
    await expect(failing).rejects.toThrow("failed");
    expect(isStarted).toBeFalse();
    expect(gate.inside).toBe(0);
  });
});
