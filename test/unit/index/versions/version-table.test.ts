import { expect, test } from "bun:test";
import fc from "fast-check";
import { INDEX_UNSCOPED_KEEP_MS } from "../../../../src/domain/limits.ts";
import { numbersIn } from "../../../../src/index/versions/number-set.ts";
import { FORGOTTEN, VersionTable } from "../../../../src/index/versions/version-table.ts";
import { advance, useFakeClock } from "../../../../support/fake-clock.ts";
import { addTo, tableOf } from "../tables.ts";

useFakeClock();

const idsOf = (table: VersionTable, scopeId: string) =>
  [...numbersIn(table.scopes.get(scopeId) ?? new Uint32Array(0))].map((number) =>
    table.idOf(number),
  );

const dimensionsOf = (table: VersionTable, id: string) => {
  const number = table.numberOf(id) as number;
  const [first, end] = table.firstChunks.subarray(number, number + 2);
  return [...table.dimensions.subarray(first, end)];
};

test("scopes, chunks and known versions stay the same under all new numbers", () => {
  const id = fc.nat(40).map((number) => `v${number}`);
  const step = fc.oneof(
    fc.record({ set: fc.constantFrom("a", "b"), ids: fc.uniqueArray(id, { maxLength: 30 }) }),
    fc.constantFrom("drop a", "forget", "embed"),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const table = new VersionTable();
      const scopes = new Map<string, readonly string[]>();
      const chunks = new Map<string, number[]>();
      const add = (added: string) => {
        const dimensions = Array.from({ length: chunks.size % 4 }, (_, i) => 384 * (i % 3));
        chunks.set(added, dimensions.length === 0 ? [0] : dimensions);
        table.append(added, dimensions);
        table.added([added]);
      };
      for (const each of steps) {
        if (each === "forget") table.forgetUnheld();
        else if (each === "drop a") {
          table.dropScope("a");
          scopes.delete("a");
        } else if (each === "embed") {
          // All scopes that hold the versions are set afterwards.
          const [ids = []] = [...scopes.values()];
          table.readAgain(ids);
          for (const again of ids.filter((known) => !table.knows(known))) add(again);
          for (const [scope, held] of scopes) table.setScope(scope, table.setOf(held));
        } else if (typeof each !== "string") {
          for (const added of each.ids.filter((known) => !table.knows(known))) add(added);
          table.setScope(each.set, table.setOf(each.ids));
          scopes.set(each.set, each.ids);
        }
        for (const [scope, ids] of scopes) {
          expect(idsOf(table, scope).sort()).toEqual([...ids].sort());
          expect(ids.filter((held) => !table.knows(held))).toEqual([]);
          for (const held of ids) expect(dimensionsOf(table, held)).toEqual(chunks.get(held) ?? []);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test("versions that no scope holds are forgotten once they are many, and not before a scope had time to follow", async () => {
  const ids = Array.from({ length: 20 }, (_, i) => `v${i}`);
  const table = tableOf(...ids);
  table.setScope("a", table.setOf(ids.slice(0, 18)));
  addTo(table, ["late", "later"]);
  await advance(INDEX_UNSCOPED_KEEP_MS - 1);
  expect(table.forgetUnheld()).toBeUndefined();
  await advance(1);
  const { kept, numbers } = table.forgetUnheld() ?? {};
  expect(kept).toEqual(Uint32Array.of(2 ** 18 - 1));
  expect([...(numbers ?? [])]).toEqual([...Array(18).keys(), ...Array(4).fill(FORGOTTEN)]);
  table.setScope("a", table.setOf(ids.slice(0, 17)));
  expect(table.forgetUnheld()).toBeUndefined();
  expect(table.knows("v17")).toBe(true);
});

test("a version that is being added again is unknown, also under the number that a scope has of it", async () => {
  const table = tableOf("a", "b", "c", "d");
  table.setScope("scope", table.setOf(["a", "c", "d"]));
  table.append("a", [768]);
  expect([table.unknown(), dimensionsOf(table, "a")]).toEqual([["a"], [768]]);
  await advance(INDEX_UNSCOPED_KEEP_MS);
  expect(table.forgetUnheld()).toBeDefined();
  expect([table.ids, table.unknown()]).toEqual([["a", "c", "d"], ["a"]]);
  expect(idsOf(table, "scope")).toEqual(["a", "c", "d"]);
});
