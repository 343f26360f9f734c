import { postEvent, runThread, threadOptions } from "../../threads/run-thread.ts";
import { FeedThread } from "./feed-thread.ts";
import type { FeedProtocol } from "./messages.ts";

/** The entry point of the thread that writes vectors to the engine's database. */
const thread = new FeedThread(threadOptions<FeedProtocol>(), postEvent<FeedProtocol>);
runThread<FeedProtocol>({ stop: () => thread.stop() });
thread.start();
