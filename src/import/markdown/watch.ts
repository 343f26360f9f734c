import { watch } from "chokidar";
import { WATCH_SETTLE_MS } from "../../shared/limits.ts";

/**
 * Yields whenever something below a folder has changed and nothing more has for WATCH_SETTLE_MS. The
 * watch begins when the generator is created, so no change is missed before it is first read.
 */
export function watchFolder(folder: string): AsyncGenerator<void> {
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
