/**
 * The baseline: a bare `Bun.serve` handler that reads the body of each request and answers with a fixed
 * body: no routes, credentials, search or headers of its own. Argument: the length of the answer in bytes.
 */

/** Serves and returns the address. */
export function start(bytes = "0"): string {
  const answer = new Uint8Array(Number(bytes)).fill("x".charCodeAt(0));
  const headers = { "content-type": "application/json" };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      await request.arrayBuffer();
      return new Response(answer, { headers });
    },
  });
  return server.url.origin;
}

if (import.meta.main) {
  process.stdout.write(`listening on ${start(...process.argv.slice(2))}\n`);
}
