import { expect, test } from "bun:test";
import { join } from "node:path";
import { locked } from "../../native/lock.ts";
import { turns } from "../../support/fake-clock.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { upTo } from "./support.ts";

const PROGRAM = join(import.meta.dir, "../../native/lock.ts");

test("work under one lock never overlaps, and a failure releases the lock", async () => {
  const folder = temporaryFolder("native");
  const lock = join(folder, "lock");
  let running = 0;
  let most = 0;
  const jobs = upTo(4).map((job) =>
    locked(lock, async () => {
      most = Math.max(most, ++running);
      await turns();
      running--;
      if (job === 1) throw new Error("broken");
    }),
  );
  const outcomes = await Promise.allSettled(jobs);
  expect(outcomes.filter(({ status }) => status === "rejected").length).toBe(1);
  expect(most).toBe(1);
});

test("the lock of a killed process is free", async () => {
  const folder = temporaryFolder("native");
  const lock = join(folder, "lock");
  const command = ["sh", "-c", "echo locked; exec cat"];
  const holder = Bun.spawn([process.execPath, PROGRAM, lock, ...command], {
    stdin: "pipe",
    stdout: "pipe",
  });
  await holder.stdout.getReader().read();
  const order: string[] = [];
  const waiting = locked(lock, async () => order.push("taken"));
  order.push("killed");
  holder.kill("SIGKILL");
  await waiting;
  expect(order).toEqual(["killed", "taken"]);
  holder.stdin.end();
});

test("a command under the lock has its streams and its status", async () => {
  const folder = temporaryFolder("native");
  const command = ["sh", "-c", "cat; exit 3"];
  const program = Bun.spawn([process.execPath, PROGRAM, join(folder, "lock"), ...command], {
    stdin: new Blob(["given"]),
    stdout: "pipe",
  });
  expect(await program.stdout.text()).toBe("given");
  expect(await program.exited).toBe(3);
});
