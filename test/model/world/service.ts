import pRetry from "p-retry";
import { startShared } from "../../../support/cleanup.ts";
import { startServer, type TestServer } from "../../../support/processes/process.ts";
import { untilPasses } from "../../../support/until.ts";

/** A service ends if the database does not answer for so long while it starts, which a busy machine may cause. */
const START_ATTEMPTS = 3;

/** A service that can be killed and started again with the same data folder. */
export class Service {
  /** Counts the starts: what a process has promised ends with it. */
  epoch = 0;

  private constructor(
    private readonly variables: Readonly<Record<string, string>>,
    private server: TestServer,
  ) {}

  static async start(variables: Readonly<Record<string, string>>): Promise<Service> {
    return new Service(variables, await startServer({ env: variables }));
  }

  get url(): string {
    return this.server.url;
  }

  logs(): string {
    return this.server.logs();
  }

  signal(name: NodeJS.Signals): void {
    this.server.kill(name);
  }

  /** Ends the process by a signal. Returns its exit status. */
  async end(name: "SIGKILL" | "SIGTERM"): Promise<number> {
    this.server.kill(name);
    const status = await this.server.exited;
    await this.server.stop();
    return status;
  }

  async restart(): Promise<void> {
    // It outlives the test file in which it is started again, as the world does that it is of.
    const start = () => startShared(() => startServer({ env: this.variables }));
    this.server = await pRetry(start, { retries: START_ATTEMPTS - 1, factor: 1 });
    this.epoch++;
  }

  /** Waits until the service is ready. */
  async ready(): Promise<void> {
    await untilPasses("the service is ready after the last fault", async () => {
      const response = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(5_000) });
      if (!response.ok) throw new Error(await response.text());
    });
  }
}
