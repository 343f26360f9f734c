import { expect, test } from "bun:test";
import { Histogram, Registry } from "prom-client";
import { QuickHistogram } from "../../../../src/ops/observability/quick-histogram.ts";

test("a quick histogram is scraped like one of the library with the same observations", async () => {
  const options = { name: "h_seconds", help: "Help.", buckets: [0.1, 1, 5] };
  const [quick, plain] = [new Registry(), new Registry()];
  const values = ["a", "b"] as const;
  const own = new QuickHistogram({ ...options, label: "stage", values, registry: quick });
  const other = new Histogram({ ...options, labelNames: ["stage"], registers: [plain] });
  for (const stage of values) other.zero({ stage });
  const amounts = [0, 0.1, 0.100_01, 0.5, 1, 2, 5, 5.1, 1_000];
  for (const amount of amounts) {
    own.observe("a", amount);
    other.observe({ stage: "a" }, amount);
  }
  own.observe("b", 3);
  other.observe({ stage: "b" }, 3);
  expect(await quick.metrics()).toBe(await plain.metrics());
  expect(await quick.metrics()).toContain('h_seconds_bucket{le="+Inf",stage="a"} 9');
});
