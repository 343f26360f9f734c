import { S3Client } from "bun";
import pTimeout from "p-timeout";
import type { BucketConfig } from "../../config/snapshots.ts";
import { CopyFailure, codeOf } from "./copy-failure.ts";
import type { Objects } from "./objects.ts";

/** For requests without contents. */
const SMALL_REQUEST_MS = 10_000;
/** How long a signed address is good for: clocks may differ, and requests end far earlier. */
const SIGNED_SECONDS = 900;

type Method = "GET" | "PUT" | "DELETE";

/** Reads a body of at most `maxBytes`, without trusting what its headers say. */
async function readBody(response: Response, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new CopyFailure("damaged", "an object is longer than expected");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/**
 * Objects in a bucket. Addresses are signed by Bun's client and fetched here, because only then can a request
 * that hangs be aborted.
 */
export class BucketObjects implements Objects {
  readonly #client: S3Client;
  readonly #prefix: string;

  constructor({ prefix, ...bucket }: BucketConfig) {
    this.#prefix = prefix;
    const { endpoint, sessionToken, ...required } = bucket;
    this.#client = new S3Client({
      ...required,
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(sessionToken === undefined ? {} : { sessionToken }),
    });
  }

  async put(name: string, bytes: Uint8Array<ArrayBuffer>, timeoutMs: number): Promise<void> {
    await this.#request("PUT", name, timeoutMs, bytes);
  }

  async get(name: string, maxBytes: number, timeoutMs: number): Promise<Buffer | null> {
    return await this.#request("GET", name, timeoutMs, undefined, maxBytes);
  }

  async list(folder: string): Promise<Map<string, number>> {
    const prefix = `${this.#prefix}${folder}/`;
    const sizes = new Map<string, number>();
    for await (const page of this.#pages(prefix)) {
      for (const { key, size } of page.contents ?? []) {
        sizes.set(key.slice(prefix.length), size ?? 0);
      }
    }
    return sizes;
  }

  async folders(folder: string): Promise<string[]> {
    const prefix = `${this.#prefix}${folder}/`;
    const names: string[] = [];
    for await (const page of this.#pages(prefix, "/")) {
      for (const each of page.commonPrefixes ?? []) {
        names.push(each.prefix.slice(prefix.length).replace(/\/$/, ""));
      }
    }
    return names;
  }

  async delete(name: string): Promise<void> {
    await this.#request("DELETE", name, SMALL_REQUEST_MS);
  }

  async deleteFolder(folder: string): Promise<void> {
    for (const name of (await this.list(folder)).keys()) await this.delete(`${folder}/${name}`);
  }

  async *#pages(prefix: string, delimiter?: string) {
    let continuationToken: string | undefined;
    do {
      const page = await this.#attempt(() => {
        const more = continuationToken === undefined ? {} : { continuationToken };
        const apart = delimiter === undefined ? {} : { delimiter };
        const listing = this.#client.list({ prefix, ...apart, ...more });
        return pTimeout(listing, { milliseconds: SMALL_REQUEST_MS });
      });
      yield page;
      continuationToken = page.isTruncated ? page.nextContinuationToken : undefined;
    } while (continuationToken !== undefined);
  }

  /** The body; null when there is no such object. */
  #request(
    method: Method,
    name: string,
    timeoutMs: number,
    body?: Uint8Array<ArrayBuffer>,
    maxBytes = 0,
  ): Promise<Buffer | null> {
    return this.#attempt(async () => {
      const key = this.#prefix + name;
      const url = this.#client.presign(key, { method, expiresIn: SIGNED_SECONDS });
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await fetch(url, {
        method,
        signal,
        ...(body === undefined ? {} : { body }),
      });
      if (response.ok && method === "GET") return await readBody(response, maxBytes);
      // Its text may name the key or the signature.
      await response.body?.cancel();
      if (response.ok || (response.status === 404 && method !== "PUT")) return null;
      throw new CopyFailure("unavailable", `the object store answers ${response.status}`);
    });
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof CopyFailure) throw error;
      throw new CopyFailure("unavailable", `the object store fails with ${codeOf(error)}`);
    }
  }
}
