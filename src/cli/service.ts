import { TesseraError } from "../../client/src/index.ts";
import { AnswerTooLong } from "../ops/bounded-fetch.ts";
import type { Config } from "../ops/config/schema.ts";
import { findService, localUrl } from "../ops/running-service.ts";
import { CommandError } from "./command-error.ts";

/** Where a command finds the service, and as whom it asks. */
export interface ServiceFlags {
  readonly url?: string | undefined;
  readonly key?: string;
}

/**
 * The URL of the service for commands, without a trailing slash: that of the running service of this data directory,
 * else that of the configuration.
 */
function foundAddress({ baseUrl, dataDir, host, port }: Config): string {
  return findService(dataDir)?.url ?? baseUrl ?? localUrl(host, port);
}

/** The same, unless the command names another one. */
export function addressOf(config: Config, { url: given }: Pick<ServiceFlags, "url">): string {
  return given?.replace(/\/+$/, "") ?? foundAddress(config);
}

/** Where clients find it. */
export function publicAddress(config: Config): string {
  return findService(config.dataDir)?.baseUrl ?? foundAddress(config);
}

/** Turns an error of the service at an address, or of the way to it, into a CommandError with it as the cause. */
export async function explained<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof TesseraError) throw new CommandError(cause.message, { cause });
    if (!isNoAnswer(cause)) throw cause;
    const { origin } = new URL(address);
    throw new CommandError(
      `${origin} does not answer (${cause.message}): start the service, or name its address with --url`,
      { cause },
    );
  }
}

/** Whether no answer of a service has come. */
function isNoAnswer(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error instanceof TypeError || error instanceof AnswerTooLong) return true;
  return typeof (error as { code?: unknown }).code === "string";
}
