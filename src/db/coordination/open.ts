import type { Config } from "../../ops/config/schema.ts";
import type { CallObserver } from "../../ops/observability/calls.ts";
import type { Log } from "../../ops/observability/log.ts";
import type { Coordinator } from "./coordinator.ts";
import { createMemoryCoordinator } from "./memory.ts";

/**
 * Coordination through the configured Redis, or within this process without one.
 * @param identity of the database, see `sharedIdentity`
 */
export async function openCoordinator(
  config: Config,
  identity: string,
  log: Log,
  observer?: CallObserver,
): Promise<Coordinator> {
  if (config.redisUrl === undefined) return createMemoryCoordinator();
  // Without Redis, its client need not be loaded.
  const { openRedisCoordinator } = await import("./redis.ts");
  return await openRedisCoordinator(config.redisUrl, identity, log, observer);
}
