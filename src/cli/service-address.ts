import { type Config, DEFAULTS } from "../config/schema.ts";
import { findService, localUrl } from "../shared/running-service.ts";
import { configOf, type Io } from "./io.ts";

/**
 * The URL of the service for commands, without a trailing slash: that of the running service of this data directory,
 * else that of the configuration.
 */
export function serviceAddress({ baseUrl, dataDir, host, port }: Config): string {
  return findService(dataDir)?.url ?? baseUrl ?? localUrl(host, port);
}

/** Where clients find it. */
export function publicAddress(config: Config): string {
  return findService(config.dataDir)?.baseUrl ?? serviceAddress(config);
}

/** The same for examples, which are shown whatever the configuration is. */
export function addressForHelp(io: Io): string {
  try {
    return publicAddress(configOf(io));
  } catch {
    return localUrl(DEFAULTS.host, DEFAULTS.port);
  }
}
