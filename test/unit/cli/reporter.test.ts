import { expect, test } from "bun:test";
import { Writable } from "node:stream";
import { Reporter } from "../../../src/cli/reporter.ts";

test("a report is one line without control characters, even if the file name contains them", () => {
  const written: string[] = [];
  const stderr = new Writable({
    write(text, _, done) {
      written.push(String(text));
      done();
    },
  });
  new Reporter(stderr, 1, "files").onReport("a\n\x1b[31m\u009b.md", "is not text");
  expect(written).toEqual(["a??[31m?.md: is not text\n"]);
});
