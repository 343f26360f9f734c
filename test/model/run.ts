import fc from "fast-check";
import { accountCommands, verifyUpgrades } from "./tenant/accounts.ts";
import { answerCommands, verifyAnswers } from "./tenant/answers.ts";
import { type Command, command } from "./tenant/command.ts";
import { deliveryCommands, verifyDeliveries } from "./tenant/deliveries.ts";
import { importAll } from "./tenant/importing.ts";
import { importCommands } from "./tenant/imports.ts";
import { lookUpScope, lookupCommands } from "./tenant/lookups.ts";
import { listChunks, listProjects, projectCommands } from "./tenant/projects.ts";
import { scopesOf, searchCommands, searchScope } from "./tenant/searches.ts";
import { newTenant, type Scene, type Tenant } from "./tenant/tenant.ts";
import { type FaultDeck, FaultInjector } from "./world/faults.ts";
import { Requests, type Tally } from "./world/requests.ts";
import type { World } from "./world/world.ts";

const FAULT_MS = { min: 50, max: 4_000 } as const;
/** A vector of each dimension that files have. */
const FINAL_VECTORS = [0, 3];

export interface RunOptions {
  readonly seed: number;
  readonly clients: number;
  /** At most so many commands per client. */
  readonly commands: number;
  /** How often a command is a fault, in about a hundred; 0 for a run without faults. */
  readonly faultWeight: number;
  /** How long a failure is shrunk. */
  readonly shrinkMs: number;
}

/** A fault that the deck deals. Shrinking drops it, or makes it shorter, but never changes it. */
function faultCommand(deck: FaultDeck) {
  const params = fc.record({
    fault: fc.constant(undefined).map(() => deck.deal()),
    ms: fc.integer(FAULT_MS),
  });
  return params.map((given) =>
    command("fault", given, async (_, { faults }, { fault, ms }) => faults.begin(fault, ms)),
  );
}

function commandsOf({ commands, faultWeight }: RunOptions, deck: FaultDeck) {
  const any = fc.oneof(
    ...importCommands,
    ...searchCommands,
    ...lookupCommands,
    ...projectCommands,
    ...deliveryCommands,
    ...answerCommands,
    ...accountCommands,
    { weight: faultWeight, arbitrary: faultCommand(deck) },
  );
  // The steps of fc.commands can be replayed only together with what each of them did, and these
  // have no precondition that would need it.
  return fc.array<Command>(any, { maxLength: commands, size: "max" });
}

/** After all faults are over, everything is as the model says, in both processes. */
async function verify(tenant: Tenant, scene: Scene): Promise<void> {
  for (const project of tenant.projects.values()) {
    await listChunks(tenant, scene, project, { at: 0, limit: 100 });
    for (const named of scopesOf(project)) {
      for (const at of scene.world.services.keys()) {
        const place = { project, named };
        for (const vector of FINAL_VECTORS) {
          const all = { limit: 100, threshold: 0, form: "bytes", exact: false } as const;
          await searchScope(tenant, scene, place, { at, vector, ...all });
        }
        await lookUpScope(tenant, scene, place, { at, word: null, limit: 5, shards: 1 });
      }
    }
  }
  await listProjects(tenant, scene, { at: 0, limit: 100 });
  await verifyDeliveries(tenant, scene);
  await verifyAnswers(tenant, scene);
  verifyUpgrades(tenant, scene);
}

/** All must succeed; the first failure ends the others early. */
async function allOf(scene: Scene, work: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(
    work.map((each) =>
      each.catch((error) => {
        scene.failed = true;
        throw error;
      }),
    ),
  );
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Runs the commands of all clients at once, each with a tenant of its own, and then verifies. */
async function runClients(
  world: World,
  tally: Tally,
  clients: readonly (readonly Command[])[],
): Promise<void> {
  const faults = new FaultInjector(world);
  const requests = new Requests(world, tally);
  const created = await Promise.all(clients.map(() => newTenant(world)));
  const tenants = created.map(({ tenant }) => tenant);
  const scene: Scene = { world, requests, faults, tenants, failed: false };
  await importAll(
    scene,
    created.flatMap(({ records }) => records),
  );
  try {
    await allOf(
      scene,
      clients.map((commands, at) =>
        fc.asyncModelRun(() => ({ model: tenants[at] as Tenant, real: scene }), commands),
      ),
    );
  } finally {
    await faults.settled();
    await Promise.all(world.services.map((service) => service.ready()));
  }
  await allOf(
    scene,
    tenants.map((tenant) => verify(tenant, scene)),
  );
}

/**
 * One run: clients with random commands against one world, compared with their models. Throws with
 * the smallest commands found that fail, and how to repeat them.
 */
export async function runModel(
  world: World,
  tally: Tally,
  deck: FaultDeck,
  options: RunOptions,
): Promise<void> {
  const commands = commandsOf(options, deck);
  const clients = fc.tuple(...Array.from({ length: options.clients }, () => commands));
  let failedAt = Number.POSITIVE_INFINITY;
  await fc.assert(
    fc.asyncProperty(clients, async (all) => {
      // Smaller candidates count as good after that, which ends the shrinking.
      if (Date.now() - failedAt > options.shrinkMs) return;
      try {
        await runClients(world, tally, all);
      } catch (error) {
        failedAt = Math.min(failedAt, Date.now());
        throw error;
      }
    }),
    { numRuns: 1, seed: options.seed },
  );
}
