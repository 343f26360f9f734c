import { expect, test } from "bun:test";
import { Reporter } from "../../../src/cli/reporter.ts";

test("a report is one line without control characters, even if the file name contains them", () => {
  const written: string[] = [];
  const { write: original } = process.stderr;
  process.stderr.write = ((text: string) => written.push(text) > 0) as never;
  try {
    new Reporter(1, "files", false).report("a\n\x1b[31m\u009b.md", "is not text");
  } finally {
    process.stderr.write = original;
  }
  expect(written).toEqual(["a??[31m?.md: is not text\n"]);
});
