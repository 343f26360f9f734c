import { expect, spyOn, test } from "bun:test";
import { ForwardedLogs, withRecentLogs } from "../../../support/service-logs.ts";

const warning = (name: string) => `{"level":40,"time":"now","msg":"${name}"}`;

test("the output of a test process has the last warnings and errors before each failure", () => {
  const many = Array.from({ length: 45 }, (_, i) => warning(`w${i}`));
  const output = [
    ...["test/a.test.ts:", `service 7: ${warning("first")}`, "error: one", "(fail) a", ...many],
    ...["error: two", "(fail) b", warning("last"), " 0 pass"],
  ];
  expect(withRecentLogs(output.join("\n")).split("\n")).toEqual([
    ...["test/a.test.ts:", "error: one", "(fail) a", `service 7: ${warning("first")}`],
    ...["error: two", "(fail) b", "(5 earlier warnings and errors of services)", ...many.slice(5)],
    ...[" 0 pass", warning("last")],
  ]);
});

test("warnings and errors of a service are passed on in whole lines, and nothing else", () => {
  const written: string[] = [];
  const write = spyOn(process.stderr, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  const logs = new ForwardedLogs(7);
  logs.add(`listening\n{"level":30,"msg":"info"}\n${warning("one").slice(0, 9)}`);
  logs.add(`${warning("one").slice(9)}\n${warning("two")}`);
  write.mockRestore();
  expect(written).toEqual([`service 7: ${warning("one")}\n`]);
});
