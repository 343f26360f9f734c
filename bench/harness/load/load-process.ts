/** The program of `Load`: receives streams with each message, sends them at once and answers with their requests. */
import { record } from "./sent.ts";
import { inTurn, type Stream } from "./streams.ts";

export interface Order {
  readonly url: string;
  readonly streams: readonly Stream[];
}

process.on("message", async ({ url, streams }: Order) => {
  const results = streams.map((stream) => record(new URL(url), stream, inTurn(stream.requests)));
  process.send?.(await Promise.all(results));
});
