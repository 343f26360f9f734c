/** A watched folder is imported again when nothing has changed in it for this long. */
const WATCH_SETTLE_MS = 300;

/**
 * Yields whenever something below a folder has changed and nothing more has for WATCH_SETTLE_MS. The
 * watch begins before the generator is returned, so no change is missed before it is first read.
 */
export async function watchFolder(folder: string): Promise<AsyncGenerator<void>> {
  const { watch } = await import("chokidar");
  let changed = false;
  let wake = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settled = () => {
    changed = true;
    wake();
  };
  const watcher = watch(folder, { ignoreInitial: true }).on("all", () => {
    clearTimeout(timer);
    timer = setTimeout(settled, WATCH_SETTLE_MS);
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
