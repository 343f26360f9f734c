import { rmSync } from "node:fs";
import { setPriority } from "node:os";
import type { LocalModel } from "../local-model.ts";
import { Model } from "./model.ts";
import { ModelServer } from "./model-server.ts";

/**
 * The process of one model: the entry point that the service starts with the settings as its argument. It listens
 * on a Unix socket, loads the model with the first text, and ends when it is idle or its parent process has ended.
 */

/** Requests, searches and imports take precedence, also over the threads of this process. */
const MODEL_NICENESS = 10;
const WATCH_MS = 500;
const WITHOUT_TIMEOUT = 0;

const [settings = "", runtimeFolder = ""] = process.argv.slice(2);
const model: LocalModel = JSON.parse(settings);
const server = new ModelServer(() => Model.load(model, runtimeFolder));
const parent = process.ppid;

setPriority(MODEL_NICENESS);
// The socket file of a killed process prevents listening. Each model has one process at a time.
rmSync(model.socket, { force: true });
// The types lack the timeout of a socket, but without it requests are cut off after ten seconds.
const patient: object = { idleTimeout: WITHOUT_TIMEOUT };
const listener = Bun.serve({
  ...patient,
  unix: model.socket,
  fetch: (request: Request) => server.answer(request),
});
setInterval(async () => {
  if (process.ppid !== parent) process.exit(0);
  if (server.idleMs <= model.idleMs) return;
  // A request that has just arrived is answered, and further ones start another process.
  await listener.stop();
  process.exit(0);
}, WATCH_MS);
