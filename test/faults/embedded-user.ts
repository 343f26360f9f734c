/**
 * A process that uses the embedded PostgreSQL in the folder that its argument names. It prints the
 * URL, uses the server until its standard input ends, and then closes it.
 */
import { openEmbeddedDatabase } from "../../src/db/embedded.ts";

const server = await openEmbeddedDatabase({ dataDir: Bun.argv[2] ?? "", log: () => {} });
process.stdout.write(`${server.url}\n`);
for await (const _ of Bun.stdin.stream()) {
  // Waits for the end of the input.
}
await server.close();
