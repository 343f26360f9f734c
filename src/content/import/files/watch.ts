import { relative, sep } from "node:path";
import { type MarkdownFolder, SKIPPED } from "../../../documents/conversion/folder.ts";

/** A watched folder is imported again after this time without a change in it. */
const WATCH_SETTLE_MS = 300;
/** A file that is written again within this time was not removed: editors and cloud folders save so. */
const REMOVAL_SETTLE_MS = 2_000;
/** Maximum errors of the watch that are reported. */
const WATCH_ERRORS_MAX = 5;

const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: "give this account the right to read it",
  EMFILE: "raise the limit fs.inotify.max_user_instances, or that of open files (ulimit -n)",
  ENOSPC: "raise the limit fs.inotify.max_user_watches: sysctl fs.inotify.max_user_watches=524288",
};

/** The methods of a watcher that this module uses. */
interface Watcher {
  on(event: "all", listener: () => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  close(): Promise<void>;
}

interface WatchOptions {
  readonly ignoreInitial: true;
  readonly ignored: (path: string) => boolean;
}

type StartWatch = (folder: string, options: WatchOptions) => Watcher | Promise<Watcher>;

const startWatch: StartWatch = async (folder, options) =>
  (await import("chokidar")).watch(folder, options);

/**
 * Yields whenever something below a folder has changed and nothing more has for WATCH_SETTLE_MS. The
 * watch begins before the generator is returned, so no change is missed before it is first read. It goes on where a part
 * of the folder cannot be watched.
 *
 * @param onFault called with a message that names the place and the remedy
 */
export async function watchFolder(
  folder: string,
  onFault: (message: string) => void,
  start: StartWatch = startWatch,
): Promise<AsyncGenerator<void>> {
  let changed = false;
  let wake = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settled = () => {
    changed = true;
    wake();
  };
  const ignored = (path: string) => relative(folder, path).split(sep).some(isSkipped);
  const watcher = await start(folder, { ignoreInitial: true, ignored });
  watcher.on("all", () => {
    clearTimeout(timer);
    timer = setTimeout(settled, WATCH_SETTLE_MS);
  });
  const told = new Set<string>();
  watcher.on("error", (error) => {
    const message = faultOf(folder, error as NodeJS.ErrnoException);
    if (told.has(message) || told.size === WATCH_ERRORS_MAX) return;
    told.add(message);
    onFault(message);
  });
  return (async function* () {
    try {
      for (;;) {
        while (!changed) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        changed = false;
        yield;
      }
    } finally {
      clearTimeout(timer);
      await watcher.close();
    }
  })();
}

/** The folder that is watched may be named by `..`. */
const isSkipped = (name: string) => name !== ".." && SKIPPED.test(name);

function faultOf(
  folder: string,
  { code = "", path = folder, message }: NodeJS.ErrnoException,
): string {
  const remedy = REMEDIES[code];
  // Any folder may be the first that exceeds a limit.
  const place = code === "EACCES" ? path : `a part of ${folder}`;
  const reason = remedy === undefined ? message : `${code}; ${remedy}`;
  return `${place} cannot be watched, so changes there are missed: ${reason}`;
}

/**
 * Scans a folder repeatedly. Files that are missing since the last scan are looked for again after REMOVAL_SETTLE_MS,
 * because they may be about to be written. Files that come and go meanwhile are not waited for.
 */
export function settledScan(find: () => MarkdownFolder): () => Promise<MarkdownFolder> {
  let known: ReadonlySet<string> = new Set();
  return async () => {
    let gone: ReadonlySet<string> = new Set();
    for (;;) {
      const found = find();
      const present = new Set(found.files.map(({ path }) => path));
      const missing = known.difference(present);
      if (missing.isSubsetOf(gone)) {
        known = present;
        return found;
      }
      gone = missing;
      await Bun.sleep(REMOVAL_SETTLE_MS);
    }
  };
}
