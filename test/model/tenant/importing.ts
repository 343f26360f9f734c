import { importRecords } from "../../../src/import/import-records.ts";
import { readBatches } from "../../../src/import/records/batches.ts";
import { streamSource } from "../../../src/import/records/source.ts";
import type { World } from "../world/world.ts";
import type { Scene } from "./tenant.ts";

export const ndjson = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

/** The import refused a record, which no fault explains. */
class RejectedRecords extends Error {}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

async function importOnce(world: World, text: string): Promise<void> {
  const rejected: string[] = [];
  const batches = readBatches([streamSource("model", bytesOf(text))], {});
  await importRecords(world.importer, batches, {
    strict: false,
    onRejected: (where, reason) => rejected.push(`${where}: ${reason}`),
  });
  if (rejected.length > 0) throw new RejectedRecords(rejected.join("\n"));
}

/** Imports records, and again when a fault interrupts it, because repeating it completes it. */
export async function importAll(
  { world, requests }: Pick<Scene, "world" | "requests">,
  records: readonly object[],
): Promise<void> {
  const text = ndjson(records);
  await requests.eventually("an import", async () => {
    const wasCalm = world.calmMs > 0;
    try {
      await importOnce(world, text);
      requests.tally.reply("import");
      return true;
    } catch (error) {
      requests.tally.reply("import interrupted");
      if (error instanceof RejectedRecords || (wasCalm && world.calmMs > 0)) throw error;
      return undefined;
    }
  });
}
