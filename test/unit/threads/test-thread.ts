import type { ThreadProtocol } from "../../../src/threads/protocol.ts";
import { postEvent, runThread, threadOptions } from "../../../src/threads/run-thread.ts";

export interface TestProtocol extends ThreadProtocol {
  readonly options: { readonly name: string };
  /** `slow` is never done, and `crash` ends the thread. */
  readonly task: "fast" | "slow" | "crash";
  readonly result: string;
  readonly command: string;
  readonly event: string;
}

/** A thread under test. It tells each task and command that it receives. */
const { name } = threadOptions<TestProtocol>();
postEvent<TestProtocol>("started");
runThread<TestProtocol>({
  async run(task) {
    postEvent<TestProtocol>(task);
    if (task === "crash") throw new Error("crashed on purpose");
    if (task === "slow") await new Promise(() => {});
    return `${name}: ${task}`;
  },
  receive: (command) => postEvent<TestProtocol>(command),
  stop: async () => postEvent<TestProtocol>("stopping"),
});
