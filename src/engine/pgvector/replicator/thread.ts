import { parentPort, workerData } from "node:worker_threads";
import { FeedThread } from "./feed-thread.ts";
import type { FeedOptions } from "./messages.ts";

/** The entry point of the thread that writes vectors to the engine's database. */
const port = parentPort as NonNullable<typeof parentPort>;
const thread = new FeedThread(workerData as FeedOptions, (message) => port.postMessage(message));
port.on("message", () => void thread.stop());
thread.start();
