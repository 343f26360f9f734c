import { connect } from "node:net";
import { until } from "../../support/until.ts";

/** What came back over one connection. */
export interface Exchange {
  /** The statuses of the answers, in their order. */
  readonly statuses: number[];
  /** The ids of the requests that the application has answered, in their order. */
  readonly ids: string[];
  /** Whether the service has closed the connection. */
  readonly closed: boolean;
}

/** What is written at once, or the number of answers that are waited for. */
export type Piece = string | number;

/** Long enough for a piece to arrive on its own. */
const PAUSE_MS = 20;

/**
 * Sends exactly these bytes over one connection, with pauses between the pieces, and reads until there are so
 * many answers or the connection ends. `halfClosed` closes the client's side after the last piece.
 */
export async function exchange(
  url: string,
  pieces: readonly Piece[],
  { answers, halfClosed = false }: { answers: number | "all"; halfClosed?: boolean },
): Promise<Exchange> {
  let text = "";
  let ended = false;
  const statuses = () =>
    [...text.matchAll(/HTTP\/1\.[01] (\d+) /g)].map(([, status]) => Number(status));
  const received = (count: number) =>
    until(`${count} answers or the end`, () => ended || statuses().length >= count);
  const socket = connect({
    port: Number(new URL(url).port),
    host: "127.0.0.1",
    allowHalfOpen: true,
  });
  socket.setNoDelay(true);
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
  });
  const end = () => {
    ended = true;
  };
  for (const event of ["end", "close", "error"]) socket.on(event, end);
  for (const piece of pieces) {
    if (typeof piece === "number") await received(piece);
    else {
      socket.write(Buffer.from(piece, "latin1"));
      if (piece !== pieces.at(-1)) await Bun.sleep(PAUSE_MS);
    }
  }
  if (halfClosed) socket.end();
  await received(answers === "all" ? Number.POSITIVE_INFINITY : answers);
  socket.destroy();
  const ids = [...text.matchAll(/^x-request-id: (\S+)/gim)].map(([, id]) => id as string);
  return { statuses: statuses(), ids, closed: ended };
}
