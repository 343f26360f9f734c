import { expect, test } from "bun:test";
import { existsSync, lstatSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { locked } from "../../native/lock.ts";
import { inFolderAsync, upTo } from "./support.ts";

/** No process has this id: on Linux the highest is 2^22. */
const NO_PROCESS = 2 ** 22 + 1;

test("work under one lock never overlaps, and a failure releases the lock", async () => {
  await inFolderAsync(async (folder) => {
    const lock = join(folder, "lock");
    let running = 0;
    let most = 0;
    const jobs = upTo(4).map((job) =>
      locked(lock, async () => {
        most = Math.max(most, ++running);
        await Bun.sleep(5);
        running--;
        if (job === 1) throw new Error("broken");
      }),
    );
    const outcomes = await Promise.allSettled(jobs);
    expect(outcomes.filter(({ status }) => status === "rejected").length).toBe(1);
    expect(most).toBe(1);
    expect(existsSync(lock)).toBe(false);
  });
});

test("a lock of a process that no longer exists is taken over", async () => {
  await inFolderAsync(async (folder) => {
    const lock = join(folder, "lock");
    symlinkSync(String(NO_PROCESS), lock);
    let ran = false;
    await locked(lock, async () => {
      ran = true;
    });
    expect(ran).toBe(true);
    expect(() => lstatSync(lock)).toThrow();
  });
});
