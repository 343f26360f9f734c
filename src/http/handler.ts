/** Answers a request. */
export type Handler = (request: Request) => Response | Promise<Response>;
