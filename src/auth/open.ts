import { ACCESS_CHANNEL } from "../db/channels.ts";
import type { Sql } from "../db/client.ts";
import type { Config } from "../ops/config/schema.ts";
import type { Log } from "../ops/observability/log.ts";
import type { Metrics } from "../ops/observability/metrics.ts";
import { ApiKeyVerifier } from "./api-keys.ts";
import { type Authenticator, createAuthenticator } from "./authenticator.ts";
import { createJwtVerifier } from "./jwt.ts";

/** A cache of access rights. */
export interface Clearable {
  clear(): void;
  /** Makes the cache read all entries again before their next use. The old ones stay for an outage. */
  expire(): void;
}

interface OpenedAuth {
  readonly authenticator: Authenticator;
  /** Registers a cache to clear whenever access rights change. */
  clearOnAccessChange(cache: Clearable): void;
  /** Clears the registered caches and the cache of keys. */
  forgetAccess(): void;
  close(): Promise<void>;
}

/**
 * Opens authentication and listens for changes of keys, memberships and scopes. Without a listener
 * changes take effect later, when the caches expire within REVOCATION_BOUND_MS.
 */
export async function openAuth(
  config: Config,
  sql: Sql,
  log: Log,
  metrics: Metrics,
): Promise<OpenedAuth> {
  const keys = new ApiKeyVerifier(sql, log, metrics.cache("api_keys"));
  const caches: Clearable[] = [];
  const forgetAccess = () => {
    keys.clear();
    for (const cache of caches) cache.clear();
  };
  const onChange = (payload: string) => {
    if (payload.startsWith("key:")) keys.drop(payload.slice("key:".length));
    else for (const cache of caches) cache.clear();
  };
  // A new connection may have missed changes, so entries are read again. They stay in use while that fails, because the
  // database may stop answering at any time. For the same reason the start does not wait for the first connection.
  const expireAccess = () => {
    for (const cache of [keys, ...caches]) cache.expire();
  };
  const listening = sql.listen(ACCESS_CHANNEL, onChange, expireAccess).catch((err: unknown) => {
    log.warn({ err }, "cannot listen for changes of access; they take effect within a second");
    return undefined;
  });
  return {
    authenticator: createAuthenticator(
      keys,
      createJwtVerifier(config.jwt, metrics.cache("tokens")),
    ),
    clearOnAccessChange: (cache) => caches.push(cache),
    forgetAccess,
    async close() {
      await (await listening)?.unlisten().catch(() => {});
      await keys.close();
    },
  };
}
