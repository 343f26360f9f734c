/**
 * Runs the addon's tests under AddressSanitizer and UndefinedBehaviorSanitizer:
 * `npm run test:asan`.
 *
 * It builds the instrumented addon, proves that a planted overflow is caught, and then runs every test
 * of test/native with it. Leak detection is off, because it would include the JavaScript engine; a
 * test of test/native covers leaks. The exit status is 0 when all tests pass.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addonPath, build } from "../native/build.ts";
import { helpIfAsked } from "./help.ts";

helpIfAsked(`usage: npm run test:asan

Runs the tests of the native addon under AddressSanitizer and UndefinedBehaviorSanitizer.

  --help
`);

/** The sanitizer keeps freed memory for a while, so the growth of the process says nothing here. */
const SKIPPED = "leak no memory";
const TEST_TIMEOUT_MS = 600_000;

const root = join(import.meta.dir, "..");
const testFolder = join("test", "native");
/** Makes every thread load the instrumented addon. */
const PRELOAD = join(root, "test/native/asan-preload.ts");

const folder = mkdtempSync(join(tmpdir(), "tessera-asan-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** The libraries to preload: the sanitizer, and a shim that it needs to work with the runtime. */
function preloaded(): string {
  const cxx = process.env.CXX ?? "g++";
  const shim = join(folder, "aligned_sigaltstack.so");
  const source = join(root, testFolder, "aligned_sigaltstack.c");
  const compiled = Bun.spawnSync([cxx, "-x", "c", "-shared", "-fPIC", source, "-o", shim]);
  if (!compiled.success) throw new Error(compiled.stderr.toString());
  const library = (name: string) =>
    Bun.spawnSync([cxx, `-print-file-name=${name}`])
      .stdout.toString()
      .trim();
  // The sanitizer looks up functions of the C++ runtime when it starts, before the addon loads it.
  return [library("libasan.so"), shim, library("libstdc++.so")].join(":");
}

const environment = {
  ...process.env,
  LD_PRELOAD: preloaded(),
  // The engine handles some faults itself and reserves huge address ranges.
  ASAN_OPTIONS: "detect_leaks=0:handle_segv=0:allow_user_segv_handler=1:abort_on_error=0",
  UBSAN_OPTIONS: "print_stacktrace=1",
};

function run(command: string[], quiet = false): { code: number; output: string } {
  const result = Bun.spawnSync([process.execPath, ...command], {
    cwd: root,
    env: environment,
    stdout: quiet ? "pipe" : "inherit",
    stderr: quiet ? "pipe" : "inherit",
  });
  return { code: result.exitCode, output: quiet ? (result.stderr?.toString() ?? "") : "" };
}

await build({ asan: true });

const path = JSON.stringify(addonPath({ asan: true }));
const planted = run(["-e", `require(${path}).testing.readBeyondEnd(100)`], true);
if (planted.code === 0 || !planted.output.includes("heap-buffer-overflow")) {
  console.error("the planted overflow was not detected: the sanitizer does not work here");
  process.exit(1);
}
console.log("a planted overflow is caught");

const tests = readdirSync(join(root, testFolder)).filter((name) => name.endsWith(".test.ts"));
const { code } = run([
  "test",
  `--preload=${PRELOAD}`,
  `--timeout=${TEST_TIMEOUT_MS}`,
  `--test-name-pattern=^(?!.*${SKIPPED})`,
  ...tests.map((name) => join(testFolder, name)),
]);
process.exit(code);
