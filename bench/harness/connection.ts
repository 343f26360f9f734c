import { ResponseReader } from "../../support/response-reader.ts";

/** What one keep-alive connection sends, and who hears of the answers. */
export interface Exchange {
  readonly hostname: string;
  readonly port: number;
  /** The next whole HTTP request, or undefined to close the connection. */
  readonly next: () => Uint8Array | string | undefined;
  /** Called after each complete answer with the time it took. */
  readonly onAnswer: (milliseconds: number) => void;
}

/**
 * Sends requests over one connection, each when the previous one has been answered. Rejects on any
 * answer other than 200, and when the server closes the connection early.
 */
export function exchange({ hostname, port, next, onAnswer }: Exchange): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const reader = new ResponseReader();
  let unsent: Uint8Array = new Uint8Array();
  let sentAt = 0;
  type Connection = { write(bytes: Uint8Array): number; end(): void };

  const push = (socket: Connection) => {
    if (unsent.length === 0) return;
    unsent = unsent.subarray(Math.max(0, socket.write(unsent)));
  };
  const send = (socket: Connection) => {
    const request = next();
    if (request === undefined) {
      resolve();
      socket.end();
      return;
    }
    unsent = typeof request === "string" ? Buffer.from(request) : request;
    sentAt = performance.now();
    push(socket);
  };
  void Bun.connect({
    hostname,
    port,
    socket: {
      open: send,
      drain: push,
      data(socket, bytes) {
        try {
          const head = reader.receive(bytes);
          if (head === undefined) return;
          if (head.status !== 200) {
            throw new Error(`unexpected answer:\n${bytes.toString("latin1", 0, 2_000)}`);
          }
          onAnswer(performance.now() - sentAt);
          send(socket);
        } catch (error) {
          reject(error);
          socket.end();
        }
      },
      close: () => reject(new Error("the server closed a connection")),
      error: (_, error) => reject(error),
    },
  }).catch(reject);
  return promise;
}
