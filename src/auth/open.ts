import type { Config } from "../config/schema.ts";
import type { Sql } from "../db/client.ts";
import type { Log } from "../observability/log.ts";
import { ApiKeyVerifier } from "./api-keys.ts";
import { type Authenticator, createAuthenticator } from "./authenticator.ts";
import { createJwtVerifier } from "./jwt.ts";

/** Something that remembers what callers may do, and forgets it when told. */
export interface Clearable {
  clear(): void;
}

export interface OpenedAuth {
  readonly authenticator: Authenticator;
  /** Lets another cache be emptied whenever access rights change. */
  clearOnAccessChange(cache: Clearable): void;
  close(): Promise<void>;
}

const CHANNEL = "tessera_access";

/**
 * Opens authentication, and listens for changes of keys, memberships and scopes. A lost listener
 * costs nothing but promptness: what is remembered expires within its bound anyway.
 */
export async function openAuth(config: Config, sql: Sql, log: Log): Promise<OpenedAuth> {
  const keys = new ApiKeyVerifier(sql, log);
  const caches: Clearable[] = [];
  const clear = () => {
    keys.clear();
    for (const cache of caches) cache.clear();
  };
  const heard = (payload: string) => {
    if (payload.startsWith("key:")) keys.drop(payload.slice("key:".length));
    else for (const cache of caches) cache.clear();
  };
  // Whatever happened while nobody listened is unknown, so a new connection forgets everything.
  const listening = await sql.listen(CHANNEL, heard, clear).catch((err: unknown) => {
    log.warn({ err }, "changes of access are not heard at once; they apply within a second");
    return undefined;
  });
  return {
    authenticator: createAuthenticator(keys, createJwtVerifier(config.jwt)),
    clearOnAccessChange: (cache) => caches.push(cache),
    async close() {
      await listening?.unlisten().catch(() => {});
      await keys.close();
    },
  };
}
