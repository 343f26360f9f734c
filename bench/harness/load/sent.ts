import { quantile } from "../statistics.ts";
import { type Listener, type Plan, sendAll } from "./streams.ts";

const NUMBERS = 4;
const REFUSED = 503;

/** The requests of a stream that have ended, as the process of a load generator sends them. */
export interface Recorded {
  /** Of each request: when it was due, sent and answered, in milliseconds since the start, and its status or 0. */
  readonly numbers: Float64Array;
  /** Those that an open loop gave up before they were sent. */
  readonly unsent: number;
  readonly seconds: number;
}

/** Sends requests and records each. */
export async function record(url: URL, plan: Plan, next: () => Uint8Array): Promise<Recorded> {
  const numbers: number[] = [];
  const start = performance.now();
  const listener: Listener = (intended, sent, ended, ending) => {
    const status = typeof ending === "number" ? ending : 0;
    numbers.push(intended - start, sent - start, ended - start, status);
  };
  const unsent = await sendAll(url, plan, next, listener);
  const seconds = (performance.now() - start) / 1_000;
  return { numbers: Float64Array.from(numbers), unsent, seconds };
}

/** One request. Times are milliseconds since the start of its stream. */
export interface Request {
  readonly due: number;
  readonly sent: number;
  readonly ended: number;
  /** 0 without an answer. */
  readonly status: number;
}

export const isSuccess = ({ status }: Request): boolean => status >= 200 && status < 300;

/** The requests that a load has sent, and the number of requests that it has not sent. */
export class Sent {
  constructor(
    readonly requests: readonly Request[],
    readonly unsent = 0,
  ) {}

  static of({ numbers, unsent }: Recorded): Sent {
    const requests = Array.from({ length: numbers.length / NUMBERS }, (_, i) => {
      const [due, sent, ended, status] = numbers.subarray(i * NUMBERS) as unknown as number[];
      return { due, sent, ended, status } as Request;
    });
    return new Sent(requests, unsent);
  }

  filter(keeps: (request: Request) => boolean): Sent {
    return new Sent(this.requests.filter(keeps), this.unsent);
  }

  /** Milliseconds of the requests that succeeded, in the order of their ends. */
  latencies(since: "due" | "sent" = "sent"): number[] {
    return this.requests.filter(isSuccess).map((request) => request.ended - request[since]);
  }

  /** NaN where nothing was answered. */
  quantile(share: number, since: "due" | "sent" = "sent"): number {
    const latencies = this.latencies(since);
    return latencies.length === 0 ? Number.NaN : quantile(latencies, share);
  }

  get answered(): number {
    return this.requests.filter(isSuccess).length;
  }

  get refused(): number {
    return this.requests.filter(({ status }) => status === REFUSED).length;
  }

  /** Those with any other status or none, and those that were never sent. */
  get failed(): number {
    return this.requests.length - this.answered - this.refused + this.unsent;
  }
}
