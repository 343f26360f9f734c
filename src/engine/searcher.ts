import type { OwnedBytes } from "../../native/owned-bytes.ts";
import { type ProjectLoader, whenLoaded } from "../index/when-loaded.ts";
import type { EngineRequest, Reply } from "./requests/request.ts";
import type { Scheduler } from "./requests/scheduler.ts";

/**
 * Answers the requests of one kind from the memory of this process. A request of a project that is not in
 * memory waits until it is loaded.
 */
export class Searcher<Request extends EngineRequest> {
  /** @param attach adds the indexes that a request reads to it; false when they are not in memory */
  constructor(
    private readonly scheduler: Scheduler,
    private readonly loader: ProjectLoader,
    private readonly attach: (request: Request) => boolean,
  ) {}

  /** Throws problems, or rejects with them. */
  run(request: Request): Reply<Request["kind"]> | Promise<Reply<Request["kind"]>> {
    this.loader.used(request.scope);
    if (!this.attach(request)) return this.#runLoaded(request);
    const reply = this.scheduler.run(request);
    if (!(reply instanceof Promise)) return this.#checked(request, reply);
    return reply.then((later) => this.#checked(request, later));
  }

  #checked(
    request: Request,
    reply: Reply,
  ): Reply<Request["kind"]> | Promise<Reply<Request["kind"]>> {
    if (reply.status === "failed") throw new Error(`a ${request.kind} failed: ${reply.message}`);
    if (reply.status !== "not-loaded") return reply as Reply<Request["kind"]>;
    takeBack(request, reply.body);
    return this.#runLoaded(request);
  }

  #runLoaded(request: Request): Promise<Reply<Request["kind"]>> {
    return whenLoaded(this.loader, request.scope, async () => {
      if (!this.attach(request)) return undefined;
      const reply = await this.scheduler.run(request);
      if (reply.status !== "not-loaded") return this.#checked(request, reply);
      takeBack(request, reply.body);
      return undefined;
    });
  }
}

/** The body of a search was transferred to the worker and has come back for another attempt. */
function takeBack(request: EngineRequest, body: OwnedBytes): void {
  if (request.kind === "search") request.body = body;
}
