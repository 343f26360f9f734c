import type { ThreadProtocol } from "../../../../src/ops/threads/protocol.ts";
import { postEvent, runThread, threadOptions } from "../../../../src/ops/threads/run-thread.ts";

export interface TestProtocol extends ThreadProtocol {
  readonly options: { readonly name: string };
  /** `slow` is never done, `throw` fails, and `crash` ends the thread. */
  readonly task: "fast" | "slow" | "throw" | "crash";
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
    if (task === "throw") throw new Error("failed on purpose");
    if (task === "crash") {
      setTimeout(() => {
        throw new Error("crashed on purpose");
      });
      await new Promise(() => {});
    }
    if (task === "slow") await new Promise(() => {});
    return `${name}: ${task}`;
  },
  receive: (command) => postEvent<TestProtocol>(command),
  stop: async () => postEvent<TestProtocol>("stopping"),
});
