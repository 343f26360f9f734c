import type { Config } from "../config/schema.ts";
import { findService, localUrl } from "../shared/running-service.ts";

/**
 * Where the service is, without a trailing slash: TESSERA_URL, else where the service of this data
 * directory says that it is, else where one with this configuration would be.
 */
export function serviceAddress({ serviceUrl, baseUrl, dataDir, host, port }: Config): string {
  return serviceUrl ?? findService(dataDir)?.url ?? baseUrl ?? localUrl(host, port);
}
