import { test } from "bun:test";
import { lacksSmallDisks } from "../../../support/processes/small-disk.ts";
import { lacks } from "../../../support/programs.ts";
import { LENGTH, SEED } from "../../../support/seed.ts";
import { runModel } from "../../model/run.ts";
import { FAULT_NAMES, FaultDeck } from "../../model/world/faults.ts";
import { Tally } from "../../model/world/requests.ts";
import { World } from "../../model/world/world.ts";

const OPERATIONS = 4_000;
const RUN = { clients: 8, commands: 80, shrinkMs: 600_000, faultWeight: 4 };

test.skipIf(lacksSmallDisks() || lacks("redis-server"))(
  "thousands of operations of eight clients get the answers of a simple model, beside every fault that there is",
  async () => {
    const world = await World.shared();
    const tally = new Tally();
    const deck = new FaultDeck(FAULT_NAMES, SEED);
    const isDone = () => tally.operations >= OPERATIONS * LENGTH && deck.rounds > 0;
    for (let run = 0; !isDone(); run++) {
      await runModel(world, tally, deck, { ...RUN, seed: SEED + run });
    }
  },
);
