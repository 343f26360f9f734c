import { expect, test } from "bun:test";
import { lacksSmallDisks } from "../../../support/processes/small-disk.ts";
import { lacks } from "../../../support/programs.ts";
import { LENGTH, SEED } from "../../../support/seed.ts";
import { FAULTS, runHistories } from "../../model/histories/run.ts";
import { FaultDeck } from "../../model/world/faults.ts";
import { Tally } from "../../model/world/requests.ts";
import { World } from "../../model/world/world.ts";

const OPERATIONS = 5_000;
const RUN = { places: 12, clients: 4, operations: 40, faults: 3 };

test.skipIf(lacksSmallDisks() || lacks("redis-server"))(
  "some order of thousands of operations on twelve environments explains their answers, whatever is killed or stalled",
  async () => {
    const world = await World.shared();
    const deck = new FaultDeck(FAULTS, SEED);
    let operations = 0;
    for (let run = 0; operations < OPERATIONS * LENGTH; run++) {
      const report = await runHistories(world, new Tally(), deck, { ...RUN, seed: SEED + run });
      operations += report.operations;
    }
    expect(deck.rounds).toBeGreaterThan(0);
  },
);
