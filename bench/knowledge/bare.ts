/** The baseline: a bare `Bun.serve` handler that reads a body and answers as many bytes as a lookup does. */

const ANSWER_BYTES = 5_000;

/** Serves and returns the address. */
export function start(): string {
  const answer = new Uint8Array(ANSWER_BYTES).fill(" ".charCodeAt(0));
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      await request.bytes();
      return new Response(answer);
    },
  });
  return server.url.origin;
}

if (import.meta.main) process.stdout.write(`listening on ${start()}\n`);
