import { expect, test } from "bun:test";
import { databaseProblem, isOutage, isUnavailable, neverRan } from "../../../src/db/errors.ts";

const failure = (code: string, more = {}) => Object.assign(new Error(code), { code, ...more });
const DISK_FULL = "53100";

test("a server that lacks something has refused the statement, which had no effect", () => {
  const refused = failure(DISK_FULL);
  expect([isOutage(refused), isUnavailable(refused)]).toEqual([true, false]);
  expect(databaseProblem(refused)?.message).toContain("no disk space");
});

test("after a panic for want of something it is unknown whether the statement had an effect", () => {
  const panicked = failure(DISK_FULL, { severity: "PANIC" });
  expect([isOutage(panicked), isUnavailable(panicked), neverRan(panicked)]).toEqual([
    ...[true, true, false],
  ]);
  expect(databaseProblem(panicked)?.message).toContain("does not answer");
});

test("a database whose results mean something else is no outage", () => {
  for (const code of ["42P01", "23505", "40001", "55P03"]) {
    expect([code, isOutage(failure(code))]).toEqual([code, false]);
  }
});
