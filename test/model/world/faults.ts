import { DRAIN_DEADLINE_MS } from "../../../src/domain/limits.ts";
import { faultUntil } from "../../../support/faults.ts";
import { Random } from "../../../support/random.ts";
import type { World } from "./world.ts";

const EXIT_CLEAN = 0;
const LOGS_MAX_CHARS = 4_000;

interface Fault {
  /** Faults of the same kind do not overlap. */
  readonly kind: string;
  /** Causes the fault, and returns when it is over. */
  run(world: World, ms: number): Promise<void>;
}

function killed(at: number): Fault {
  return {
    kind: `service ${at}`,
    async run(world, ms) {
      const service = world.service(at);
      await service.end("SIGKILL");
      await Bun.sleep(ms);
      await service.restart();
    },
  };
}

function stopped(at: number): Fault {
  return {
    kind: `service ${at}`,
    async run(world) {
      const service = world.service(at);
      const begun = performance.now();
      const status = await service.end("SIGTERM");
      const milliseconds = Math.round(performance.now() - begun);
      const logs = service.logs().slice(-LOGS_MAX_CHARS);
      await service.restart();
      // On a machine that is too busy to stop in time, resources are left open.
      if (status !== EXIT_CLEAN && milliseconds < DRAIN_DEADLINE_MS) {
        throw new Error(
          `a stopped service exits with ${status} after ${milliseconds} ms:\n${logs}`,
        );
      }
    },
  };
}

function stalled(at: number): Fault {
  return {
    kind: `service ${at}`,
    async run(world, ms) {
      const service = world.service(at);
      service.signal("SIGSTOP");
      await using _stopped = faultUntil(() => service.signal("SIGCONT"));
      await Bun.sleep(ms);
    },
  };
}

/** Faults of the processes and disks of a world. */
const FAULTS = {
  "kill service 0": killed(0),
  "kill service 1": killed(1),
  "stop service 0": stopped(0),
  "stop service 1": stopped(1),
  "stall service 0": stalled(0),
  "stall service 1": stalled(1),
  "crash PostgreSQL": { kind: "postgres", run: ({ postgres }) => postgres.crash() },
  "restart PostgreSQL": { kind: "postgres", run: ({ postgres }) => postgres.restart() },
  "kill a process of PostgreSQL": {
    kind: "postgres",
    run: ({ postgres }) => postgres.killBackend(),
  },
  "freeze PostgreSQL": {
    kind: "postgres",
    async run({ postgres }, ms) {
      await using _frozen = await postgres.freeze();
      await Bun.sleep(ms);
    },
  },
  // Recovery after a crash needs space, so a full disk excludes the faults of PostgreSQL.
  "fill the disk of PostgreSQL": {
    kind: "postgres",
    async run({ disks }, ms) {
      await using _filled = disks.database.fill();
      await Bun.sleep(ms);
    },
  },
  "fill the disk of snapshots": {
    kind: "snapshots",
    async run({ disks }, ms) {
      await using _filled = disks.snapshots.fill();
      await Bun.sleep(ms);
    },
  },
  "kill Redis": {
    kind: "redis",
    async run({ redis }, ms) {
      await using _killed = await redis.kill();
      await Bun.sleep(ms);
    },
  },
  "freeze Redis": {
    kind: "redis",
    async run({ redis }, ms) {
      await using _frozen = redis.pause();
      await Bun.sleep(ms);
    },
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

/** Deals faults out in an order by the seed: each of them before any is repeated. */
export class FaultDeck {
  readonly #random: Random;
  #left: FaultName[] = [];
  /** How often each fault has been dealt, at least. */
  rounds = 0;

  constructor(
    private readonly names: readonly FaultName[],
    seed: number,
  ) {
    this.#random = new Random(seed);
  }

  deal(): FaultName {
    if (this.#left.length === 0) this.#left = this.#random.sample(this.names, this.names.length);
    const name = this.#left.pop() as FaultName;
    if (this.#left.length === 0) this.rounds++;
    return name;
  }
}

/** Causes faults beside the requests of a run. */
export class FaultInjector {
  /** The last fault of each kind. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(private readonly world: World) {}

  /** Begins a fault as soon as the one of its kind is over that is in effect. */
  begin(name: FaultName, ms: number): void {
    const { kind, run }: Fault = FAULTS[name];
    const before = this.#last.get(kind) ?? Promise.resolve();
    const fault = before.then(() => this.world.disturb(() => run(this.world, ms)));
    // `settled` reports the failure.
    fault.catch(() => {});
    this.#last.set(kind, fault);
  }

  /** Waits until all faults are over. Throws if one of them showed a defect. */
  async settled(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
