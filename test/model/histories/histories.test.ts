import { expect, test } from "bun:test";
import { lacksSmallDisks } from "../../../support/processes/small-disk.ts";
import { lacks } from "../../../support/programs.ts";
import { SEED } from "../../../support/seed.ts";
import { FaultDeck } from "../world/faults.ts";
import { Tally } from "../world/requests.ts";
import { World } from "../world/world.ts";
import { FAULTS, runHistories } from "./run.ts";

/** Few environments, because each operation costs 60 ms of processor time, and so more faults in a thousand of them. */
const OPTIONS = { places: 2, clients: 4, operations: 35, faults: 12 };

test.skipIf(lacksSmallDisks() || lacks("redis-server"))(
  "some order of all operations on an environment explains all answers to clients of two services, and searches see the change that they name",
  async () => {
    const world = await World.shared();
    const deck = new FaultDeck(FAULTS, SEED);
    const report = await runHistories(world, new Tally(), deck, { seed: SEED, ...OPTIONS });
    expect(report.operations).toBeGreaterThan(0);
    expect(report.searches).toBeGreaterThan(0);
  },
);
