/** Cuts the power of a recorded service at random moments, and checks what is left. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { memoryFolder } from "../../../support/folders.ts";
import { stopEmbeddedServer } from "../../../support/processes/embedded.ts";
import { Random } from "../../../support/random.ts";
import { giveBack, hasDatabase, searchesAgree, storedIn, tornFiles } from "./checks.ts";
import { type Remains, restore } from "./disk/disk.ts";
import type { Loss } from "./disk/nodes.ts";
import { DATA, differences, type Recording, replay } from "./recording.ts";
import { believedFiles } from "./snapshots.ts";

/** Of so many cuts one is anywhere, the others after the first change was acknowledged. */
const ANYWHERE = 10;
/** Of so many cuts one is right after an acknowledgement. */
const AT_ONCE = 3;

const CUTS = 40;
/** Of so many cuts one is checked by its database. */
const DATABASES = 20;
/** After this one, a service is started on what is left. */
const SERVICE_CUT = 0;

const LOSSES: readonly Loss[] = ["some", "all", "nothing"];

/** The numbers of the events after which the power is cut, in order. */
function momentsOf(recording: Recording, random: Random, cuts: number): number[] {
  const acknowledgements: number[] = [];
  let events = 0;
  let known = 0;
  for (const { acknowledged } of replay(recording)) {
    if (acknowledged.size > known) acknowledgements.push(events);
    known = acknowledged.size;
    events++;
  }
  const [first = 0] = acknowledgements;
  const moments = Array.from({ length: cuts }, (_, i) => {
    if (i % ANYWHERE === 0) return random.below(events);
    if (i % AT_ONCE === 0) return acknowledgements[random.below(acknowledgements.length)] ?? 0;
    return first + random.below(events - first);
  });
  return moments.sort((a, b) => a - b);
}

/** Cuts the power at random moments, and returns what was wrong with what was left. */
export async function cutPower(recording: Recording, seed: number): Promise<string[]> {
  const random = new Random(seed);
  const draw = (limit: number) => random.below(limit);
  const failures: string[] = [];
  const moments = momentsOf(recording, random, CUTS);
  let [cut, event] = [0, 0];
  for (const { disk, acknowledged } of replay(recording)) {
    for (; moments[cut] === event; cut++) {
      const [files, names] = [LOSSES[draw(3)] as Loss, LOSSES[draw(3)] as Loss];
      const remains = disk.afterCut({ files, names, draw });
      try {
        await check(recording, remains, new Set(acknowledged), cut);
      } catch (error) {
        const what = `losing ${files} of files and ${names} of names`;
        failures.push(`cut ${cut} after event ${event}, ${what}: ${(error as Error).message}`);
      }
    }
    event++;
  }
  return cut === CUTS ? failures : [...failures, `${CUTS - cut} cuts did not happen`];
}

async function check(
  { customers, folder: original }: Recording,
  remains: Remains,
  acknowledged: ReadonlySet<number>,
  cut: number,
): Promise<void> {
  const believed = await believedFiles(remains, tornFiles(remains));
  if (believed.length > 0) throw new Error(`${believed.join(", ")} is torn`);
  const allowed = customers.allowed(acknowledged);
  if (!hasDatabase(remains) && acknowledged.size > 0) throw new Error("the database is lost");
  if (cut % DATABASES !== 0) return;
  const folder = memoryFolder("cut");
  try {
    mkdirSync(join(folder, DATA));
    restore(remains, folder);
    let stored = new Map<number, string>();
    if (hasDatabase(remains)) {
      giveBack(folder, original);
      stored = await storedIn(folder);
    }
    for (const [customer, states] of allowed.entries()) {
      const found = stored.get(customer) ?? "";
      if (!states.includes(found))
        throw new Error(`${found} is stored instead of ${states.join(" or ")}`);
    }
    if (cut !== SERVICE_CUT) return;
    const slugs = [...stored.values()].map((text) => text.split("\n")[0] as string);
    await searchesAgree(folder, customers.key as string, slugs);
  } finally {
    await stopEmbeddedServer(join(folder, DATA));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a recording does not explain: files that have other contents, and answers that it does not have. */
export function unexplained(recording: Recording): string[] {
  const last = [...replay(recording)].at(-1);
  if (last === undefined) return ["everything"];
  const missing = recording.customers.count - last.acknowledged.size;
  return [...differences(last.disk), ...(missing === 0 ? [] : [`${missing} answers`])];
}
