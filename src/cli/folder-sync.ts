import pLimit from "p-limit";
import { type Tessera, TesseraError } from "../../client/src/index.ts";
import { settledScan } from "../content/import/files/watch.ts";
import type { Conversions } from "../documents/conversion/conversions.ts";
import { findMarkdown, readText, skippedIn, unreadIn } from "../documents/conversion/folder.ts";
import type { FormatOptions } from "../documents/conversion/formats.ts";
import { RecordError } from "../documents/errors.ts";
import { isMarkdownPath } from "../documents/markdown/index.ts";
import { PAGE_MAX } from "../domain/limits.ts";
import { CommandError } from "./command-error.ts";

/** Maximum number of concurrent requests of a synchronisation. */
const SYNC_REQUESTS_MAX = 4;

interface SyncTarget extends FormatOptions {
  readonly folder: string;
  readonly project: string;
  readonly environment: string;
  readonly conversions?: Conversions;
}

/** A file of the folder to be written. */
interface Upload {
  readonly path: string;
  /** Its name in the folder. */
  readonly file: string;
  /** Size and hash of its text, in bytes of UTF-8, when the plan was made. */
  readonly size: number;
  readonly hash: string;
  /** The version that it replaces; undefined for a new file. */
  readonly replaces?: string;
}

/** The steps that make the environment equal to the folder. */
export interface SyncPlan {
  readonly added: readonly Upload[];
  readonly changed: readonly Upload[];
  readonly removed: readonly { readonly path: string; readonly versionId: string }[];
  readonly unchanged: number;
  /** Files of the folder that cannot be read. The environment keeps its versions of them. */
  readonly rejected: readonly { readonly path: string; readonly reason: string }[];
  /** Messages about other entries of the folder, in a sentence each. */
  readonly skipped: readonly string[];
}

interface StepListener {
  /** Called for each step: without a fault when it is done. */
  onStep(path: string, fault?: string): void;
  /** Called for each warning of the service about a stored file. */
  onWarning?(path: string, message: string): void;
}

const isPlainPath = (path: string) => /\.txt$/i.test(path);

const hashOf = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

/**
 * Keeps the Markdown files of a folder and of an environment in step over HTTP. Its state is only a cache: a plan
 * compares the folder with the files of the service, so an interrupted plan is made again.
 */
export class FolderSync {
  /** The hashes of versions that were read or written, so that they are not read again. */
  readonly #hashes = new Map<string, string>();
  readonly #find: ReturnType<typeof settledScan>;

  constructor(
    private readonly client: Tessera,
    private readonly target: SyncTarget,
  ) {
    this.#find = settledScan(() => findMarkdown(target.folder, target));
  }

  /** Throws a CommandError if the environment serves a release, which a folder cannot change. */
  async plan(): Promise<SyncPlan> {
    const { project, environment, folder, text, conversions } = this.target;
    const { environments = [] } = await this.client.getProject(project);
    const { active_release_id: active } = environments.find((e) => e.name === environment) ?? {};
    if (active !== undefined) {
      throw new CommandError(
        `${environment} serves a release: sync another environment, or activate its working set first`,
      );
    }
    const remote = new Map<string, { readonly versionId: string; readonly size: number }>();
    const options = { environment, limit: PAGE_MAX };
    for await (const file of this.client.allFiles(project, options)) {
      const { path, version_id: versionId, size } = file;
      if (isMarkdownPath(path) || (text === true && isPlainPath(path)))
        remote.set(path, { versionId, size });
    }
    const found = await this.#find();
    const unreadable = [...found.rejected];
    const added: Upload[] = [];
    const kept: Upload[] = [];
    for (const { file, path } of found.files) {
      try {
        const replaces = remote.get(path)?.versionId;
        const { text: read } = await readText(folder, file, conversions);
        const bytes = Buffer.from(read);
        const upload = { path, file, size: bytes.length, hash: hashOf(bytes) };
        if (replaces === undefined) added.push(upload);
        else kept.push({ ...upload, replaces });
      } catch (error) {
        if (!(error instanceof RecordError)) throw error;
        unreadable.push({ path: file, reason: error.message });
      }
    }
    const changed = await this.#changed(kept, (path) => remote.get(path)?.size);
    const unread = unreadIn(found);
    const present = new Set([...found.files.map(({ path }) => path), ...unread.paths]);
    const isKept = (path: string) =>
      present.has(path) || unread.below.some((start) => path.startsWith(start));
    const removed = [...remote].filter(([path]) => !isKept(path));
    return {
      added,
      changed,
      rejected: unreadable,
      unchanged: kept.length - changed.length,
      removed: removed.map(([path, { versionId }]) => ({ path, versionId })),
      skipped: skippedIn(found),
    };
  }

  /** Waits until searches see the changes; a few seconds at a time, as `retries` allow. */
  async untilSearchable(): Promise<void> {
    const { change } = this.client;
    if (change === undefined) return;
    await this.client.getIndexState(this.target.project, { minChange: change });
  }

  /** Carries out a plan. Files that another client has changed since then stay as they are, and are reported. */
  async apply({ added, changed, removed }: SyncPlan, listener: StepListener): Promise<void> {
    const limit = pLimit(SYNC_REQUESTS_MAX);
    const step = (path: string, work: () => Promise<unknown>) =>
      limit(async () => {
        try {
          await work();
          listener.onStep(path);
        } catch (error) {
          const fault = faultOf(error);
          if (fault === undefined) throw error;
          listener.onStep(path, fault);
        }
      });
    const uploads = [...added, ...changed].map((file) =>
      step(file.path, () => this.#put(file, listener)),
    );
    const removals = removed.map((file) => step(file.path, () => this.#remove(file)));
    try {
      await Promise.all([...uploads, ...removals]);
    } finally {
      limit.clearQueue();
    }
  }

  /** The files whose content differs from that of the version that they would replace. */
  async #changed(
    files: readonly Upload[],
    sizeOf: (path: string) => number | undefined,
  ): Promise<Upload[]> {
    const limit = pLimit(SYNC_REQUESTS_MAX);
    const different = await Promise.all(
      files.map((file) =>
        limit(async () => {
          if (sizeOf(file.path) !== file.size) return true;
          return (await this.#hashOfVersion(file)) !== file.hash;
        }),
      ),
    );
    return files.filter((_, i) => different[i]);
  }

  async #hashOfVersion({ path, replaces = "" }: Upload): Promise<string> {
    const known = this.#hashes.get(replaces);
    if (known !== undefined) return known;
    const { project, environment } = this.target;
    const file = await this.client.getFile(project, path, { environment });
    const hash = hashOf(Buffer.from(file.content ?? ""));
    this.#hashes.set(file.version_id, hash);
    return hash;
  }

  async #put({ path, file, replaces }: Upload, { onWarning }: StepListener): Promise<void> {
    const { project, environment, folder, conversions } = this.target;
    const { text, leftOut } = await readText(folder, file, conversions);
    const type = isMarkdownPath(path) ? "text/markdown" : "text/plain";
    const options = {
      environment,
      type,
      ...(replaces === undefined ? {} : { ifMatch: replaces }),
    } as const;
    const written = await this.client.putFile(project, path, text, options);
    this.#hashes.set(written.version_id, hashOf(Buffer.from(text)));
    const warnings = (written.warnings ?? []).map(({ message }) => message);
    for (const warning of [...warnings, ...leftOut]) onWarning?.(path, warning);
  }

  async #remove({ path, versionId }: SyncPlan["removed"][number]): Promise<void> {
    const { project, environment } = this.target;
    const options = { environment, ifMatch: versionId };
    await this.client.deleteFile(project, path, options).catch((error: unknown) => {
      // Another client has removed it.
      if (!(error instanceof TesseraError) || error.slug !== "file-not-found") throw error;
    });
  }
}

/** Why a step failed; undefined for errors that every other step would have, too. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof RecordError) return error.message;
  if (!(error instanceof TesseraError)) return undefined;
  const { status, slug, message } = error;
  const endsAll = status === 401 || status === 403 || status >= 500 || slug === "project-not-found";
  if (endsAll) return undefined;
  return status === 412 ? "was changed by somebody else" : message;
}
