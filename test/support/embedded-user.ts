/**
 * A process that uses the embedded PostgreSQL of the folder in its argument: it prints the address,
 * keeps using it until its standard input ends, then leaves in good order.
 */
import { openEmbeddedDatabase } from "../../src/db/embedded.ts";

const server = await openEmbeddedDatabase({ dataDir: Bun.argv[2] ?? "", log: () => {} });
process.stdout.write(`${server.url}\n`);
for await (const _ of Bun.stdin.stream()) {
  // Only the end of the input matters.
}
await server.close();
