import type { ResponseHeader } from "./operation.ts";

/**
 * Names the project of a request, whichever of its references the caller used. Balancers in front of
 * several nodes can route by it, when a client sends it with its next requests; the service ignores it.
 */
export const ROUTING_KEY = "x-routing-key";

/** For the documentation. */
export const routingKeyHeader: Readonly<Record<string, ResponseHeader>> = {
  "X-Routing-Key": {
    description:
      "The project's id. A client that sends it with its next requests to the project lets a " +
      "balancer choose the node that has the project in memory.",
    extension: true,
  },
};
