import pTimeout from "p-timeout";
import { OPERATOR } from "../../../src/auth/audit/actor.ts";
import { importRecords } from "../../../src/content/import/import-records.ts";
import { readBatches } from "../../../src/content/import/records/batches.ts";
import { streamSource } from "../../../src/content/import/records/source.ts";
import type { Caller } from "../../../support/api/api.ts";
import { ndjson } from "../../../support/ndjson.ts";
import type { World } from "../world/world.ts";
import type { Scene } from "./tenant.ts";

const OK = 200;
/**
 * Longer than commands bear an outage. The service lets everything else go before an import, so on a busy
 * machine an import of a few lines may take a minute, too.
 */
const HANG_MS = 180_000;

/** The import refused a record or does not end, which no fault explains. */
class FailedImport extends Error {}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

async function importOnce(world: World, text: string): Promise<void> {
  const rejected: string[] = [];
  const batches = readBatches([streamSource("model", bytesOf(text))], {});
  const imported = importRecords(world.importer, batches, {
    actor: OPERATOR,
    strict: false,
    onRejected: (where, reason) => rejected.push(`${where}: ${reason}`),
  });
  await pTimeout(imported, { milliseconds: HANG_MS, message: new FailedImport("it hangs") });
  if (rejected.length > 0) throw new FailedImport(rejected.join("\n"));
}

/** Repeats an import while faults interrupt it, because repeating it completes it. */
async function untilImported(
  { world, requests }: Place,
  attempt: () => Promise<boolean>,
): Promise<void> {
  await requests.eventually("an import", async () => {
    const wasCalm = world.calmMs > 0;
    try {
      if (await attempt()) return true;
    } catch (error) {
      if (error instanceof FailedImport || (wasCalm && world.calmMs > 0)) throw error;
    }
    requests.tally.reply("import interrupted");
    return undefined;
  });
}

type Place = Pick<Scene, "world" | "requests">;

/** Imports records as the command does, in this process. */
export async function importAll(place: Place, records: readonly object[]): Promise<void> {
  const text = ndjson(records);
  await untilImported(place, async () => {
    await importOnce(place.world, text);
    place.requests.tally.reply("import");
    return true;
  });
}

/** Imports records into a project over HTTP. */
export async function uploadAll(
  place: Place,
  to: { readonly slug: string; readonly as: Caller; readonly at: number },
  records: readonly object[],
): Promise<void> {
  const path = `/projects/${to.slug}/import`;
  const sending = {
    as: to.as,
    body: ndjson(records),
    headers: { "content-type": "application/x-ndjson" },
    timeoutMs: HANG_MS,
  };
  await untilImported(place, async () => {
    const reply = await place.requests.send(to.at, "POST", path, sending);
    if (reply.kind !== "answer") return false;
    const { lines, errors } = reply.body;
    if (reply.status !== OK || lines !== records.length || errors.length > 0) {
      throw new FailedImport(JSON.stringify(reply.body));
    }
    return true;
  });
}
