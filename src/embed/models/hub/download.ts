import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import pRetry from "p-retry";
import { ModelError } from "../model-error.ts";
import type { HubFile } from "./listing.ts";

/** The suffix of a file that is not complete. */
const PART = ".part";
const REDIRECTS_MAX = 5;
const DOWNLOAD_ATTEMPTS = 5;
const DOWNLOAD_RETRY_BASE_MS = 500;
/** A download that receives no bytes for this time is aborted, and then resumed. */
const DOWNLOAD_STALL_MS = 30_000;
/** The length of Git's SHA-1 checksums. The others are SHA-256. */
const GIT_CHECKSUM_CHARS = 40;

interface Download {
  /** The address of the file. It may redirect. */
  readonly url: string;
  readonly file: HubFile;
  readonly folder: string;
  readonly onBytes: (bytes: number) => void;
}

/** The connection broke, or the server has a temporary fault. */
class Interrupted extends Error {}

/**
 * Downloads a file into a folder, unless it is there. The partial file of an earlier attempt is continued. The file
 * gets its name once its checksum is verified. Throws a ModelError.
 */
export async function download({ url, file, folder, onBytes }: Download): Promise<void> {
  const path = join(folder, file.path);
  if (existsSync(path) && (await hasChecksum(path, file))) {
    onBytes(file.size);
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  const part = path + PART;
  onBytes(sizeOf(part));
  try {
    await pRetry(() => complete(url, part, file, onBytes), {
      retries: DOWNLOAD_ATTEMPTS - 1,
      minTimeout: DOWNLOAD_RETRY_BASE_MS,
      shouldRetry: ({ error }) => error instanceof Interrupted,
    });
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException, file);
  }
  if (!(await hasChecksum(part, file))) {
    rmSync(part, { force: true });
    throw new ModelError(
      `${file.path} has another checksum than the hub states and is removed: run the command again`,
    );
  }
  renameSync(part, path);
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}

function explained(error: NodeJS.ErrnoException, { path }: HubFile): Error {
  if (error instanceof ModelError) return error;
  const goesOn = "the same command goes on where it was";
  if (error.code === "ENOSPC") {
    return new ModelError(`the disk is full: free some space, then ${goesOn}`);
  }
  return new ModelError(`${path} cannot be downloaded: ${error.message}; ${goesOn}`);
}

async function complete(
  url: string,
  part: string,
  file: HubFile,
  onBytes: Download["onBytes"],
): Promise<void> {
  let from = sizeOf(part);
  if (from === file.size && from > 0) return;
  if (from > file.size) from = 0;
  const stalled = new AbortController();
  const response = await follow(url, from, stalled.signal);
  // A server without ranges sends the whole file.
  if (from > 0 && response.status !== 206) {
    onBytes(-from);
    from = 0;
  }
  const target = await open(part, from === 0 ? "w" : "a");
  try {
    await receive(response, target, { left: file.size - from, stalled, onBytes });
    await target.sync();
  } finally {
    await target.close();
  }
}

interface Reception {
  /** Bytes that are still to come. */
  readonly left: number;
  readonly stalled: AbortController;
  readonly onBytes: Download["onBytes"];
}

async function receive(
  response: Response,
  target: FileHandle,
  { left, stalled, onBytes }: Reception,
): Promise<void> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let missing = left;
  for (;;) {
    const timer = setTimeout(() => stalled.abort(), DOWNLOAD_STALL_MS);
    const { done, value } = await reader
      .read()
      .catch((error: Error) => {
        throw new Interrupted(error.message);
      })
      .finally(() => clearTimeout(timer));
    if (done) break;
    missing -= value.byteLength;
    if (missing < 0) {
      await reader.cancel();
      throw new ModelError("the hub sends more than it has stated");
    }
    await target.writeFile(value);
    onBytes(value.byteLength);
  }
  if (missing > 0) throw new Interrupted("the connection was closed early");
}

/** Requests a file from a byte on, and follows redirects, such as to the storage of large files. */
async function follow(url: string, from: number, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = from === 0 ? {} : { range: `bytes=${from}-` };
  let at = url;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const timer = AbortSignal.timeout(DOWNLOAD_STALL_MS);
    const response = await fetch(at, {
      headers,
      redirect: "manual",
      signal: AbortSignal.any([signal, timer]),
    }).catch((error: Error) => {
      throw new Interrupted(error.message);
    });
    const location = response.headers.get("location");
    if (response.ok) return response;
    if (response.status >= 500 || response.status === 429) {
      throw new Interrupted(`the hub answered ${response.status}`);
    }
    if (response.status < 300 || response.status >= 400 || location === null) {
      throw new ModelError(`the hub answered ${response.status} for ${new URL(url).pathname}`);
    }
    at = new URL(location, at).href;
    if (!/^https?:/.test(at))
      throw new ModelError("the hub redirects to an address that is not one of the web");
  }
  throw new ModelError(`the hub redirects more than ${REDIRECTS_MAX} times`);
}

/** True if a file has the size and checksum that the hub states. */
async function hasChecksum(path: string, { size, checksum }: HubFile): Promise<boolean> {
  if (sizeOf(path) !== size) return false;
  const isGit = checksum.length === GIT_CHECKSUM_CHARS;
  const hash = createHash(isGit ? "sha1" : "sha256");
  if (isGit) hash.update(`blob ${size}\0`);
  for await (const piece of createReadStream(path)) hash.update(piece);
  return hash.digest("hex") === checksum;
}
