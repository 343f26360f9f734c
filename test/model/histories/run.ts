/** Runs clients against two services while processes are killed and stopped, and checks their histories. */
import { randomUUID } from "node:crypto";
import { Random } from "../../../support/random.ts";
import { type FaultDeck, FaultInjector, type FaultName } from "../world/faults.ts";
import { Requests, type Tally } from "../world/requests.ts";
import type { World } from "../world/world.ts";
import { Client, Place } from "./clients.ts";
import { ENVIRONMENT } from "./environment.ts";
import { isLinearizable, printed, shrunk, UndecidedError } from "./linearizable.ts";

/** Faults that leave requests without an answer. */
export const FAULTS: readonly FaultName[] = [
  ...(["kill service 0", "kill service 1", "stall service 0", "stall service 1"] as const),
  ...(["kill Redis", "freeze Redis", "kill a process of PostgreSQL", "crash PostgreSQL"] as const),
];
const FAULT_MIN_MS = 50;
const FAULT_SPREAD_MS = 2_000;

export interface HistoryOptions {
  readonly seed: number;
  readonly places: number;
  /** Clients of each place. */
  readonly clients: number;
  /** Operations of each client. */
  readonly operations: number;
  /** Faults in about a thousand operations. */
  readonly faults: number;
}

export interface HistoryReport {
  operations: number;
  unanswered: number;
  /** Histories with so many operations without an answer that their orders cannot all be tried. */
  undecided: number;
  /** Searches that had to see a change. */
  searches: number;
}

/** One run, with new projects. Throws with the smallest history found that no order of its operations explains. */
export async function runHistories(
  world: World,
  tally: Tally,
  deck: FaultDeck,
  options: HistoryOptions,
): Promise<HistoryReport> {
  const random = new Random(options.seed);
  const [faults, requests] = [new FaultInjector(world), new Requests(world, tally)];
  const places = await Promise.all(
    Array.from({ length: options.places }, () => newPlace(world, requests)),
  );
  const clients = places.map((place, at) =>
    Array.from({ length: options.clients }, (_, i) => {
      const own = new Random(options.seed * 1_000 + at * options.clients + i);
      return new Client(`client ${i}`, place, requests, own);
    }),
  );
  const disturb = () => {
    if (random.below(1_000) >= options.faults) return;
    faults.begin(deck.deal(), FAULT_MIN_MS + random.below(FAULT_SPREAD_MS));
  };
  try {
    await Promise.all(clients.flat().map((client) => act(client, options.operations, disturb)));
  } finally {
    await faults.settled();
    await Promise.all(world.services.map((service) => service.ready()));
  }
  await Promise.all(clients.map(([client]) => readAll(client as Client, world, requests)));
  const undecided = places.filter((place) => !isDecided(place, options.seed)).length;
  const all = places.flatMap(({ history }) => history);
  return {
    operations: all.length,
    undecided,
    unanswered: all.filter(({ answered }) => answered === Number.POSITIVE_INFINITY).length,
    searches: places.reduce((sum, { searches }) => sum + searches, 0),
  };
}

async function newPlace(world: World, requests: Requests): Promise<Place> {
  const place = new Place(`place-${randomUUID()}`, await world.caller(randomUUID()));
  const project = { name: "A place", slug: place.slug, embedder: "hashing" };
  await requests.eventually("a project is created", async () => {
    const reply = await requests.send(0, "POST", "/projects", { as: place.owner, json: project });
    // An attempt without an answer may have created it.
    return reply.kind === "answer" && [201, 409].includes(reply.status) ? reply : undefined;
  });
  return place;
}

async function act(client: Client, operations: number, disturb: () => void): Promise<void> {
  for (let i = 0; i < operations; i++) {
    disturb();
    await client.act();
  }
}

/** What there is in the end, at every service. */
async function readAll(client: Client, world: World, requests: Requests): Promise<void> {
  for (const at of world.services.keys()) {
    for (const kind of [
      { type: "get", file: 0 },
      { type: "get", file: 1 },
      { type: "lookup" },
      client.search(),
    ] as const) {
      const read = async () => ((await client.perform(kind, at)) ? true : undefined);
      await requests.eventually(`the last ${kind.type}`, read);
    }
  }
}

/** Throws for a history that no order explains; false for one of which that cannot be found out. */
function isDecided({ slug, history }: Place, seed: number): boolean {
  try {
    if (isLinearizable(history, ENVIRONMENT)) return true;
  } catch (error) {
    if (error instanceof UndecidedError) return false;
    throw error;
  }
  const smallest = shrunk(history, ENVIRONMENT);
  throw new Error(
    `seed ${seed}: no order of these operations of ${slug} explains their answers:\n${printed(smallest)}`,
  );
}
