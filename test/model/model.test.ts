import { expect, test } from "bun:test";
import { lacksSmallDisks } from "../../support/processes/small-disk.ts";
import { lacks } from "../../support/programs.ts";
import { SEED } from "../../support/seed.ts";
import { runModel } from "./run.ts";
import { FAULT_NAMES, FaultDeck } from "./world/faults.ts";
import { Tally } from "./world/requests.ts";
import { World } from "./world/world.ts";

const SHRINK_MS = 60_000;

test.skipIf(lacksSmallDisks() || lacks("redis-server"))(
  "clients of two processes get the answers of a simple model, whatever is killed, stalled or full",
  async () => {
    const world = await World.shared();
    const tally = new Tally();
    await runModel(world, tally, new FaultDeck(FAULT_NAMES, SEED), {
      seed: SEED,
      clients: 4,
      commands: 30,
      shrinkMs: SHRINK_MS,
      faultWeight: 6,
    });
    expect(tally.tables.replies.has("200")).toBe(true);
  },
);
