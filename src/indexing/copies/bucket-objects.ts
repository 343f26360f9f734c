import { AwsClient } from "aws4fetch";
import type { BucketConfig } from "../../config/snapshots.ts";
import { AnswerTooLong, boundedFetch } from "../../shared/bounded-fetch.ts";
import { type ListingPage, readListing } from "./bucket-listing.ts";
import { CopyFailure, codeOf } from "./copy-failure.ts";
import type { Objects } from "./objects.ts";

/** For requests without contents. */
const SMALL_REQUEST_MS = 10_000;
/** An answer without contents; one that says why a request failed is read, too. */
const SMALL_ANSWER_BYTES = 1_048_576;
/** A page has a thousand keys of at most a kilobyte each, three times as long when encoded. */
const PAGE_MAX_BYTES = 8 * 1_048_576;
/** A listing as a whole, so that a store without an end to its pages holds up no thread. */
const LISTING_MAX_MS = 120_000;
/** Pieces of a project of some terabytes, a thousand on each page. */
const LISTING_MAX_PAGES = 500;

type Method = "GET" | "PUT" | "DELETE";

interface Request {
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly query?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/** Objects in a bucket, whose answers are not trusted: no redirect is followed, and everything is bounded. */
export class BucketObjects implements Objects {
  readonly #client: AwsClient;
  readonly #address: string;
  readonly #prefix: string;

  constructor({ bucket, prefix, endpoint, region, ...credentials }: BucketConfig) {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const session = sessionToken === undefined ? {} : { sessionToken };
    const service = "s3";
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, ...session, service, region });
    this.#address = `${endpoint ?? `https://s3.${region}.amazonaws.com`}/${bucket}/`;
    this.#prefix = prefix;
  }

  async put(name: string, body: Uint8Array<ArrayBuffer>, timeoutMs: number): Promise<void> {
    await this.#request("PUT", this.#prefix + name, { body, timeoutMs });
  }

  async get(name: string, maxBytes: number, timeoutMs: number): Promise<Buffer | null> {
    const answer = await this.#request("GET", this.#prefix + name, { maxBytes, timeoutMs });
    return answer === null ? null : Buffer.from(await answer.arrayBuffer());
  }

  async list(folder: string): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for await (const page of this.#pages(folder)) {
      for (const [name, size] of page.sizes) sizes.set(name, size);
    }
    return sizes;
  }

  async folders(folder: string): Promise<string[]> {
    const names: string[] = [];
    for await (const page of this.#pages(folder, { delimiter: "/" })) names.push(...page.folders);
    return names;
  }

  async delete(name: string): Promise<void> {
    await this.#request("DELETE", this.#prefix + name);
  }

  async deleteFolder(folder: string): Promise<void> {
    for (const name of (await this.list(folder)).keys()) await this.delete(`${folder}/${name}`);
  }

  async *#pages(folder: string, options: Request["query"] = {}): AsyncGenerator<ListingPage> {
    const prefix = `${this.#prefix}${folder}/`;
    const deadline = performance.now() + LISTING_MAX_MS;
    let next: string | undefined;
    for (let page = 0; page < LISTING_MAX_PAGES && performance.now() < deadline; page++) {
      const after: Request["query"] = next === undefined ? {} : { "continuation-token": next };
      const query = { "list-type": "2", "encoding-type": "url", prefix, ...options, ...after };
      const answer = await this.#request("GET", "", { query, maxBytes: PAGE_MAX_BYTES });
      const listing = readListing((await answer?.text()) ?? "", prefix);
      if (listing === null) {
        throw new CopyFailure("unavailable", "the object store answers with no listing");
      }
      yield listing;
      next = listing.next;
      if (next === undefined) return;
    }
    throw new CopyFailure("unavailable", "the listings of the object store do not end");
  }

  /** The answer; null when there is no such object. */
  async #request(
    method: Method,
    key: string,
    { body, query, timeoutMs = SMALL_REQUEST_MS, maxBytes = SMALL_ANSWER_BYTES }: Request = {},
  ): Promise<Response | null> {
    const url = new URL(this.#address + key.split("/").map(encodeURIComponent).join("/"));
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    let answer: Response;
    try {
      const { headers } = await this.#client.sign(url, { method });
      const signal = AbortSignal.timeout(timeoutMs);
      const content = body === undefined ? {} : { body };
      answer = await boundedFetch(url.href, { method, headers, signal, ...content }, maxBytes);
    } catch (error) {
      const isObject = error instanceof AnswerTooLong && error.status === 200 && key !== "";
      if (isObject) throw new CopyFailure("damaged", "an object is longer than expected");
      throw new CopyFailure("unavailable", `the object store fails with ${codeOf(error)}`);
    }
    if (answer.ok) return answer;
    if (answer.status === 404 && method !== "PUT" && key !== "") return null;
    // The text of the answer may name the key or what was signed.
    throw new CopyFailure("unavailable", `the object store answers ${answer.status}`);
  }
}
