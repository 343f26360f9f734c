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

export interface CutOptions {
  readonly seed: number;
  readonly cuts: number;
  /** Of so many cuts one is checked by its database, and of so many one by a service as well. */
  readonly databases: number;
  readonly services: number;
  readonly onCut?: (number: number, failures: number) => void;
  readonly onFailure?: (message: string) => void;
}

export interface CutReport {
  cuts: number;
  databases: number;
  services: number;
  /** Cuts that could lose something, and the files of the service that they tore. */
  lossy: number;
  torn: number;
  readonly failures: string[];
}

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

export async function cutPower(recording: Recording, options: CutOptions): Promise<CutReport> {
  const random = new Random(options.seed);
  const report: CutReport = { cuts: 0, databases: 0, services: 0, lossy: 0, torn: 0, failures: [] };
  const moments = momentsOf(recording, random, options.cuts);
  let event = 0;
  for (const { disk, acknowledged } of replay(recording)) {
    for (; moments[0] === event; moments.shift()) {
      const draw = (limit: number) => random.below(limit);
      const [files, names] = [LOSSES[draw(3)] as Loss, LOSSES[draw(3)] as Loss];
      const remains = disk.afterCut({ files, names, draw });
      const checks = {
        database: report.cuts % options.databases === 0,
        service: report.cuts % options.services === 0,
      };
      const at = `cut ${report.cuts} after event ${event}, losing ${files} of files and ${names} of names`;
      try {
        await check(recording, remains, new Set(acknowledged), checks, report);
      } catch (error) {
        report.failures.push(`${at}: ${(error as Error).message}`);
        options.onFailure?.(report.failures.at(-1) as string);
      }
      report.cuts++;
      if (files !== "nothing" || names !== "nothing") report.lossy++;
      options.onCut?.(report.cuts, report.failures.length);
    }
    event++;
    if (moments.length === 0) break;
  }
  return report;
}

async function check(
  { customers, folder: original }: Recording,
  remains: Remains,
  acknowledged: ReadonlySet<number>,
  checks: { readonly database: boolean; readonly service: boolean },
  report: CutReport,
): Promise<void> {
  const torn = tornFiles(remains);
  report.torn += torn.length;
  const believed = await believedFiles(remains, torn);
  if (believed.length > 0) throw new Error(`${believed.join(", ")} is torn`);
  const allowed = customers.allowed(acknowledged);
  if (!hasDatabase(remains) && acknowledged.size > 0) throw new Error("the database is lost");
  if (!checks.database && !checks.service) return;
  const folder = memoryFolder("cut");
  try {
    mkdirSync(join(folder, DATA));
    restore(remains, folder);
    let stored = new Map<number, string>();
    if (hasDatabase(remains)) {
      giveBack(folder, original);
      stored = await storedIn(folder);
      report.databases++;
    }
    for (const [customer, states] of allowed.entries()) {
      const found = stored.get(customer) ?? "";
      if (!states.includes(found))
        throw new Error(`${found} is stored instead of ${states.join(" or ")}`);
    }
    if (!checks.service) return;
    const slugs = [...stored.values()].map((text) => text.split("\n")[0] as string);
    await searchesAgree(folder, customers.key as string, slugs);
    report.services++;
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
