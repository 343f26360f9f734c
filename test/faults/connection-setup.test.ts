import { afterEach, describe, expect, test } from "bun:test";
import { openDatabase } from "../../src/db/client.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { until } from "../../support/until.ts";

/** Authentication is done, and the server is ready for the first query. */
const READY = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

/** A message of the server with which it ends the connection. */
function fatal(code: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mthe server ends\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}

/** How a server ends connections before the first statement of a caller. */
const ENDINGS = {
  "as soon as it is opened": () => undefined,
  "while it starts": () => fatal("57P03"),
  "after the authentication": (message: number) => (message === 1 ? READY : undefined),
  "after the authentication with an error": (message: number) =>
    message === 1 ? READY : fatal("57P01"),
} as const;

const unhandled: unknown[] = [];
const note = (error: unknown) => void unhandled.push(error);
process.on("unhandledRejection", note);
onCleanup(() => void process.off("unhandledRejection", note));
afterEach(() => {
  expect(unhandled.splice(0)).toEqual([]);
});

describe("a server that ends each connection", () => {
  for (const [when, answerTo] of Object.entries(ENDINGS)) {
    test(`${when} fails queries, transactions and reserved connections, and is not called again and again`, async () => {
      let connections = 0;
      const listener = Bun.listen<{ messages: number }>({
        hostname: "127.0.0.1",
        port: 0,
        socket: {
          open(socket) {
            socket.data = { messages: 0 };
            connections++;
          },
          data(socket) {
            const answer = answerTo(++socket.data.messages);
            if (answer !== undefined) socket.write(answer);
            if (answer !== READY) socket.end();
          },
        },
      });
      const sql = openDatabase(`postgres://a:b@127.0.0.1:${listener.port}/c`, {
        connections: 2,
        patience: "command",
      });
      const reserved = async () => {
        const connection = await sql.reserve();
        await connection`SELECT 1`.finally(() => connection.release());
      };
      const uses = [
        ...Array.from({ length: 4 }, reserved),
        sql`SELECT 1`.then(() => {}),
        sql.begin((tx) => tx`SELECT 1`),
      ];
      const outcomes: string[] = [];
      for (const use of uses) {
        use.then(
          () => outcomes.push("success"),
          () => outcomes.push("failure"),
        );
      }
      await until("every use has an outcome", () => outcomes.length === uses.length);
      expect(outcomes).toEqual(uses.map(() => "failure"));
      expect(connections).toBeLessThanOrEqual(uses.length);
      await sql.end({ timeout: 0 });
      listener.stop(true);
    });
  }
});
