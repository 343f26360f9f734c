import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { startApiProcess } from "../../../support/api/api.ts";
import { importsOf, openUpload, PRODUCTION } from "../../../support/api/imports.ts";

/** The size of an import that must not be held in memory: several times the garbage between two collections. */
const STREAM_BYTES = 1_000_000_000;

test("the service imports a stream that is far larger than the memory that it takes", async () => {
  const service = await startApiProcess();
  const { owner: caller, project } = await service.ownedProject();
  const { report: importLines } = importsOf(service, caller);
  await importLines(project, [PRODUCTION]);
  const status = () => readFileSync(`/proc/${service.server.pid}/status`, "utf8");
  const peakOf = () => Number(/VmHWM:\s+(\d+)/.exec(status())?.[1]) * 1_024;
  const before = peakOf();
  const upload = openUpload(service, project, caller);
  const piece = `${"x".repeat(65_535)}\n`;
  for (let sent = 0; sent < STREAM_BYTES; sent += piece.length) await upload.write(piece);
  await upload.end();
  const body = (await (await upload.answer).json()) as { lines: number; refused: number };
  expect(body.refused).toBe(body.lines);
  expect(body.lines * piece.length).toBeGreaterThanOrEqual(STREAM_BYTES);
  expect(peakOf() - before).toBeLessThan(STREAM_BYTES / 2);
});
