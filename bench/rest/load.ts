import { readFileSync } from "node:fs";

/** Clock ticks a second in /proc, the same on every Linux that Bun runs on. */
const TICKS_PER_SECOND = 100;

export interface Load {
  readonly requestsPerSecond: number;
  /** CPU time of the server's process, user and system, a request, in microseconds. */
  readonly serverMicroseconds: number;
}

export interface Target {
  readonly url: string;
  readonly pid: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What to send instead of a GET of the path with these headers, made anew for each request. */
  readonly next?: () => string;
}

/** Both times stand behind the program's name, which may hold anything but ends with a bracket. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** The length of a whole response, or undefined while its head is incomplete. */
function responseLength(bytes: Buffer): number | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = bytes.subarray(0, end).toString("latin1");
  if (!head.startsWith("HTTP/1.1 200 ")) throw new Error(`unexpected answer:\n${head}`);
  return end + 4 + Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
}

/** One keep-alive connection that asks again as soon as it is answered. */
function connection(target: Target, answered: () => boolean): Promise<void> {
  const { hostname, port } = new URL(target.url);
  const lines = Object.entries(target.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const get = `GET ${target.path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${lines.join("")}\r\n`;
  const next = target.next ?? (() => get);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let head = Buffer.alloc(0);
  let missing: number | undefined;
  void Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => void socket.write(next()),
      data(socket, bytes) {
        if (missing === undefined) {
          head = Buffer.concat([head, bytes]);
          const length = responseLength(head);
          if (length === undefined) return;
          missing = length - head.length;
        } else {
          missing -= bytes.length;
        }
        if (missing > 0) return;
        head = Buffer.alloc(0);
        missing = undefined;
        if (answered()) socket.write(next());
        else socket.end();
      },
      close: () => resolve(),
      error: (_, error) => reject(error),
    },
  }).catch(reject);
  return promise;
}

/** Asks over `connections` connections for `milliseconds` and counts the answers. */
export async function load(
  target: Target,
  connections: number,
  milliseconds: number,
): Promise<Load> {
  let count = 0;
  const cpu = cpuSeconds(target.pid);
  const begun = performance.now();
  const answered = () => {
    count++;
    return performance.now() - begun < milliseconds;
  };
  await Promise.all(Array.from({ length: connections }, () => connection(target, answered)));
  const seconds = (performance.now() - begun) / 1_000;
  return {
    requestsPerSecond: count / seconds,
    serverMicroseconds: ((cpuSeconds(target.pid) - cpu) / count) * 1e6,
  };
}
