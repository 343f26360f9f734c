/** A thread that loads the addon and then makes calls that fail, until it is terminated. */
import { addon } from "../../native/addon.ts";

const { openProject } = addon as { openProject(): void };
for (;;) {
  try {
    openProject();
  } catch {
    // The missing arguments are refused, which is what this thread is for.
  }
}
