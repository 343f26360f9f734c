import { expect, test } from "bun:test";
import { codeOf, filesOf } from "./sources.ts";

/** The functions of the file system that put contents or names on a disk. */
const FUNCTIONS =
  /^(?:writeFile|appendFile|write|writev|rename|link|copyFile|cp|truncate|ftruncate|createWriteStream)(?:Sync)?$/;
const IMPORTED = /import \{([^}]*)\} from "node:fs(?:\/promises)?"/g;
const OPENED = /\bBun\.write\(|\bopen(?:Sync)?\([^)]*"(?:[wa]x?\+?|r\+)"/;
const NATIVE = /::rename\(|O_CREAT|O_RDWR|\bofstream|\bfopen\(/;

function writes(file: string): boolean {
  const code = codeOf(file);
  if (file.startsWith("native/")) return NATIVE.test(code);
  const names = [...code.matchAll(IMPORTED)].flatMap(([, list = ""]) => list.split(/[\s,]+/));
  return OPENED.test(code) || names.some((name) => FUNCTIONS.test(name));
}

/** The files that do, each with the reason why a power cut cannot make anybody believe what is torn. */
const WRITERS: Readonly<Record<string, string>> = {
  "native/src/storage/file.cc":
    "the parts of vectors are synced before a manifest names them; a lock has no contents",
  "src/cli/export.ts": "syncs the file before the command says how many records it has",
  "src/db/embedded/binaries.ts": "syncs the copied programs before they get their name",
  "src/db/embedded/cluster.ts":
    "initdb syncs the cluster, and its name is synced before it is used; the log is for people",
  "src/db/embedded.ts": "a lock has no contents",
  "src/content/import/thread/input.ts": "a spool has no name, and ends with its process",
  "src/embed/models/hub/download.ts":
    "syncs a file and compares its checksum before it gets its name",
  "src/embed/models/install-runtime.ts": "syncs the runtime before its folder gets its name",
  "src/ops/durable-files.ts": "writes durably",
  "src/ops/service-claim.ts": "the name in a lock is for people",
};

test("every file that the service writes is durable before anything relies on it, or not believed when it is torn", () => {
  const writers = filesOf("src/**/*.ts", "workers/**/*.ts", "native/src/**/*").filter(writes);
  expect(writers.toSorted()).toEqual(Object.keys(WRITERS).toSorted());
});
