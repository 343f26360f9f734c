import { expect, test } from "bun:test";
import { type PendingScope, PendingScopes } from "../../../../src/index/projects/pending-scopes.ts";

const scope = { id: "scope", kind: "environment" } as const;

/** A change of the scope, whose waiters note their names in `called`. */
function changeAt(seq: number, called: string[], ...names: string[]): PendingScope {
  const waiters = names.map((name) => () => void called.push(name));
  return { scope, seq, preempts: false, waiters };
}

const release = (pending: PendingScope | undefined) => {
  for (const waiter of pending?.waiters ?? []) waiter();
};

test("a scope that changes again keeps its oldest change and all who wait for it", () => {
  const [scopes, called] = [new PendingScopes(), [] as string[]];
  scopes.add(changeAt(5, called, "first"));
  scopes.add(changeAt(9, called, "second"));
  expect(scopes.size).toBe(1);
  expect(scopes.first()?.seq).toBe(5);
  release(scopes.first());
  expect(called).toEqual(["first", "second"]);
});

test("a scope that could not be indexed keeps those who came meanwhile", () => {
  const [scopes, called] = [new PendingScopes(), [] as string[]];
  const begun = changeAt(5, called, "first");
  scopes.add(begun);
  scopes.remove(begun);
  scopes.add(changeAt(9, called, "meanwhile"));
  scopes.restore(begun);
  expect(scopes.first()?.seq).toBe(5);
  release(scopes.first());
  expect(called).toEqual(["first", "meanwhile"]);
});

test("a scope that changes again while another one is indexed preempts that one", () => {
  const scopes = new PendingScopes();
  scopes.add(changeAt(5, []));
  scopes.add({ ...changeAt(9, []), preempts: true });
  expect(scopes.first()?.preempts).toBe(true);
  scopes.add(changeAt(10, []));
  expect(scopes.first()?.preempts).toBe(true);
});

test("nobody waits for scopes that are removed as a whole", () => {
  const [scopes, called] = [new PendingScopes(), [] as string[]];
  scopes.add(changeAt(5, called, "first"));
  scopes.clear();
  expect([scopes.size, called]).toEqual([0, ["first"]]);
});
