import type { Config } from "../config/schema.ts";

/** Where the service of this configuration is, without a trailing slash. */
export function serviceAddress({ baseUrl, host, port }: Config): string {
  const name = host === "0.0.0.0" ? "127.0.0.1" : host;
  return baseUrl ?? `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
