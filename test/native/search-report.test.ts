import { afterAll, describe, expect, test } from "bun:test";
import * as native from "../../native/index.ts";
import { joined, type OwnedBytes } from "../../native/owned-bytes.ts";
import { run } from "../../src/engine/requests/run.ts";
import { searchRequest } from "../../support/requests.ts";
import { makeVectors } from "../../support/vectors.ts";
import { searchJson, searchVector } from "./searches.ts";
import { appendAll, freshProject, opened, setScope, upTo } from "./support.ts";

const DIMENSION = 768;
const CHUNKS = 600;
const project = opened();
const vectors = makeVectors("clusters", CHUNKS, DIMENSION, 11);
const query = makeVectors("clusters", 1, DIMENSION, 12);
const json = new TextEncoder().encode(
  JSON.stringify({ vector: Array.from(query), dimension: DIMENSION, limit: 20, threshold: 0 }),
);

appendAll(project, DIMENSION, vectors);
setScope(project, "all", DIMENSION, upTo(CHUNKS));
setScope(project, "few", DIMENSION, upTo(20));
native.setScope(project, "none", []);
afterAll(() => native.dropProject(project));

type Hits = Array<{ chunk: { id: number }; score: number }>;
const hitsOf = (outcome: native.SearchOutcome): Hits =>
  JSON.parse(new TextDecoder().decode(outcome as Uint8Array)).data;

function planOf(scope: string, exact?: boolean): string {
  const report = new Float64Array(native.SEARCH_REPORT_LENGTH).fill(-1);
  searchJson(project, scope, json, "/", report, exact);
  for (const milliseconds of report.subarray(0, 3)) expect(milliseconds).toBeGreaterThanOrEqual(0);
  return native.PLANS[report[3] as number] as string;
}

test("an answered search has given up the memory of its body, another keeps it", () => {
  const { scope } = searchRequest(0);
  const reply = (id: string, body: OwnedBytes) =>
    run(searchRequest(0, { project, scope: { ...scope, id }, body })).status;
  const [answered, kept] = [joined([json]), joined([json])];
  expect(reply("few", answered)).toBe("answered");
  expect(answered.buffer.detached).toBe(true);
  expect(reply("not loaded", kept)).toBe("not-loaded");
  expect(kept).toEqual(joined([json]));
});

describe("the report of a search", () => {
  test("names the plan and the time of each step", () => {
    expect(planOf("none")).toBe("empty");
    expect(planOf("few")).toBe("exact");
    expect(planOf("all")).toBe("scan");
    expect(planOf("all", false)).toBe("scan");
    expect(planOf("all", true)).toBe("exact");
  });

  test("is the same for a vector", () => {
    const report = new Float64Array(native.SEARCH_REPORT_LENGTH).fill(-1);
    searchVector(project, "all", query, DIMENSION, 20, 0, "/", report, true);
    expect(native.PLANS[report[3] as number]).toBe("exact");
    for (const milliseconds of report) expect(milliseconds).toBeGreaterThanOrEqual(0);
  });

  test("counts the vectors of the scope and those that were compared, by codes and in full", () => {
    const workOf = (scope: string, exact?: boolean) => {
      const report = new Float64Array(native.SEARCH_REPORT_LENGTH).fill(-1);
      searchJson(project, scope, json, "/", report, exact);
      const [, searchMs, , , , rescoreMs, members, estimates, comparisons] =
        report as never as number[];
      expect(rescoreMs).toBeGreaterThanOrEqual(0);
      expect(rescoreMs).toBeLessThanOrEqual(searchMs as number);
      return { rescored: rescoreMs !== 0, members, estimates, comparisons: comparisons ?? 0 };
    };
    expect(workOf("none")).toEqual({ rescored: false, members: 0, estimates: 0, comparisons: 0 });
    expect(workOf("all", true)).toEqual({
      rescored: false,
      members: CHUNKS,
      estimates: 0,
      comparisons: CHUNKS,
    });
    const scanned = workOf("all");
    expect(scanned).toMatchObject({ rescored: true, members: CHUNKS, estimates: CHUNKS });
    expect(scanned.comparisons).toBeGreaterThanOrEqual(20);
    expect(scanned.comparisons).toBeLessThan(CHUNKS);
  });

  test("stays untouched when nothing is searched", () => {
    const report = new Float64Array(native.SEARCH_REPORT_LENGTH).fill(-1);
    expect(searchJson(project, "gone", json, "/", report)).toBe(native.NOT_LOADED);
    const torn = json.subarray(1);
    expect(searchJson(project, "all", torn, "/", report)).toEqual({ body: "json" });
    expect(new Set(report)).toEqual(new Set([-1]));
  });

  test("is refused when it is of a wrong shape, and so is a wrong choice of the method", () => {
    const short = new Float64Array(3);
    const floats = new Float32Array(4) as unknown as Float64Array<ArrayBuffer>;
    for (const report of [short, floats]) {
      expect(() => searchJson(project, "all", json, "/", report)).toThrow(TypeError);
    }
    const exact = "yes" as unknown as boolean;
    expect(() => searchJson(project, "all", json, "/", undefined, exact)).toThrow(TypeError);
  });
});

describe("measuring the recall of a search", () => {
  test("compares the hits as planned with the exact ones, for both forms of a query", async () => {
    const best = hitsOf(searchJson(project, "all", json, "/"))[0]?.score as number;
    const expected = { dimension: DIMENSION, wanted: 20, found: 20, best };
    expect(await native.measureRecall({ project, scope: "all", body: json })).toEqual(expected);
    const byVector = native.measureRecall({
      project,
      scope: "all",
      body: query.buffer,
      dimension: DIMENSION,
      limit: 20,
      threshold: 0,
    });
    expect(await byVector).toEqual(expected);
  });

  test("wants nothing where nothing matches", async () => {
    const nothing = { dimension: DIMENSION, wanted: 0, found: 0, best: 0 };
    expect(await native.measureRecall({ project, scope: "none", body: json })).toEqual(nothing);
  });

  test("is not possible without the scope or with a body that is not a search", async () => {
    expect(await native.measureRecall({ project, scope: "gone", body: json })).toBeNull();
    expect(
      await native.measureRecall({ project, scope: "all", body: json.subarray(1) }),
    ).toBeNull();
  });

  test("ends well when the project is dropped meanwhile", async () => {
    const other = opened();
    appendAll(other, DIMENSION, vectors);
    setScope(other, "all", DIMENSION, upTo(CHUNKS));
    const running = native.measureRecall({ project: other, scope: "all", body: json });
    native.dropProject(other);
    expect(await running).toMatchObject({ dimension: DIMENSION, wanted: 20, found: 20 });
  });
});

test("calibration can be requested of any index, and of none", () => {
  native.recalibrate(project, DIMENSION);
  native.recalibrate(project, 4096);
  expect(() => native.recalibrate(freshProject(), DIMENSION)).toThrow("not open");
});
