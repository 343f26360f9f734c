import type { SingleBar } from "cli-progress";
import type { Sql } from "../db/client.ts";
import {
  type Growth,
  hasLeader,
  readGrowth,
  wantPlacements,
} from "../engine/pgvector/operator/growth.ts";
import { CommandError } from "./command-error.ts";
import type { Project } from "./database.ts";
import { interruptible } from "./interruption.ts";
import type { Io } from "./io.ts";
import { plural, print } from "./output.ts";
import { withBar } from "./progress.ts";

const POLL_MS = 250;
/** A node that takes over needs a moment. */
const LEADER_WAIT_MS = 15_000;

function draw(bar: SingleBar | undefined, { serving, filling }: Growth): void {
  const [total, value] = [serving?.vectors ?? 0, filling?.vectors ?? 0];
  const phase = filling === undefined ? "waiting" : value < total ? "copying" : "building graphs";
  bar?.setTotal(total);
  bar?.update(Math.min(value, total), { phase });
}

/** Requests a number of placements, and waits until searches read them. */
export async function growProject(
  io: Io,
  vectors: Sql,
  { id, slug }: Project,
  count: number,
  wait: boolean,
): Promise<void> {
  await wantPlacements(vectors, id, count);
  const { serving: current } = await readGrowth(vectors, id);
  if (!wait || current === undefined) {
    print(io, `${slug}: will have ${plural(count, "placement")}`);
    return;
  }
  const keeps = () => "the nodes go on by themselves, and the same command shows their progress";
  await interruptible(keeps, () =>
    withBar(io.stderr, "{phase} {bar} {value} of {total} vectors", (bar) => {
      bar?.start(0, 0, { phase: "waiting" });
      return untilGrown(vectors, { id, slug }, count, (growth) => draw(bar, growth));
    }),
  );
  const { serving } = await readGrowth(vectors, id);
  print(io, `${slug}: ${plural(count, "placement")}, ${serving?.vectors ?? 0} vectors`);
}

async function untilGrown(
  vectors: Sql,
  { id, slug }: Project,
  count: number,
  report: (growth: Growth) => void,
): Promise<void> {
  let ledAt = performance.now();
  for (;;) {
    const growth = await readGrowth(vectors, id);
    const { serving, filling, wanted } = growth;
    if (serving === undefined) throw new CommandError(`${slug} was deleted`);
    if (wanted !== count) {
      throw new CommandError(
        `${slug}: another command asked for ${plural(wanted ?? 0, "placement")}`,
      );
    }
    if (serving.placements === count && filling === undefined) return;
    report(growth);
    const now = performance.now();
    if (await hasLeader(vectors)) ledAt = now;
    else if (now - ledAt > LEADER_WAIT_MS) {
      throw new CommandError(
        `${slug}: no node writes vectors now: start one with VECTOR_DATABASE_URL, and it goes on by itself`,
      );
    }
    await Bun.sleep(POLL_MS);
  }
}
