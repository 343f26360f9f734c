import { expect, test } from "bun:test";
import { type DriverQuery, guardQuery } from "../../../src/db/outage/guarded-query.ts";
import type { OutageGuard } from "../../../src/db/outage/outage-guard.ts";

/** A statement that was handed to the driver, and the guard's view of it. */
function handedOver() {
  let watched: Parameters<OutageGuard["watch"]>[0] | undefined;
  const guard = {
    isDown: false,
    watch(query: typeof watched) {
      watched = query;
      return () => {};
    },
  };
  const calls: string[] = [];
  const query = {
    strings: ["DELETE FROM users"],
    args: [],
    state: null,
    active: false,
    executed: true,
    handler() {},
    resolve() {},
    reject: () => calls.push("rejected"),
    cancel: () => calls.push("cancelled"),
    cursor() {},
  };
  guardQuery(guard as unknown as OutageGuard, query as DriverQuery, () => 1);
  (query as DriverQuery).handler(query as DriverQuery);
  return { query: query as DriverQuery, watched: watched as NonNullable<typeof watched>, calls };
}

test("a statement that the driver has not sent is not cancelled, because it never uses the connection again that it is opening", () => {
  const { query, watched, calls } = handedOver();
  watched.fail();
  // The connection opens meanwhile, and the driver sends the rest of the statement.
  query.state = {};
  watched.cancel?.();
  expect(calls).toEqual(["rejected"]);
  expect([query.strings, query.args]).toEqual([["SELECT 1"], []]);
});

test("a statement that was sent is cancelled after its deadline", () => {
  const { query, watched, calls } = handedOver();
  query.state = {};
  watched.fail();
  watched.cancel?.();
  expect(calls).toEqual(["rejected", "cancelled"]);
  expect([...query.strings]).toEqual(["DELETE FROM users"]);
});
