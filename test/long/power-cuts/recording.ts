/** Records what a service and its PostgreSQL write while clients change projects, and what was acknowledged. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onCleanup } from "../../../support/cleanup.ts";
import { memoryFolder } from "../../../support/folders.ts";
import { stopEmbeddedServer } from "../../../support/processes/embedded.ts";
import { startServer } from "../../../support/processes/process.ts";
import { programPath } from "../../../support/programs.ts";
import { ACKNOWLEDGEMENT, Customers } from "./customers.ts";
import { Disk } from "./disk/disk.ts";
import { readTrace, straceArguments, type TraceEvent } from "./disk/trace.ts";

export const DATA = "data";

/** What happened, in order, and who was told of it. */
export interface Recording {
  /** Everything below it is on the disk that loses. */
  readonly folder: string;
  readonly events: readonly TraceEvent[];
  readonly customers: Customers;
}

/** The database of PostgreSQL, whose new files have their names once they are synced. */
const isPostgres = (path: string) => path.includes(`/${DATA}/postgres/cluster`);

/** Records a service that begins with an empty disk. */
export async function record(seed: number, changes: number): Promise<Recording> {
  const folder = memoryFolder("power");
  const disk = join(folder, "disk");
  mkdirSync(disk);
  onCleanup(() => stopEmbeddedServer(join(disk, DATA)));
  const customers = new Customers(seed);
  const trace = join(folder, "trace");
  const server = await startServer({
    under: [programPath("strace"), ...straceArguments(trace)],
    env: {
      DATA_DIR: join(disk, DATA),
      // A demo project comes with a key.
      DEMO: "on",
      SEARCH_WORKERS: "1",
      LOG_LEVEL: "error",
    },
  });
  await customers.change(server, changes);
  process.kill(childOf(server.pid), "SIGTERM");
  const status = await server.exited;
  if (status !== 0) throw new Error(`the service ended with ${status}: ${server.logs()}`);
  return { folder: disk, events: [...readTrace(trace)], customers };
}

/** The process that strace has started. It keeps signals from itself. */
function childOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return Number(children[0]);
}

/** Follows a recording, with what a client had been told of before each event. */
export function* replay(
  recording: Recording,
): Generator<{ disk: Disk; acknowledged: Set<number> }> {
  const disk = new Disk(recording.folder, isPostgres);
  const acknowledged = new Set<number>();
  for (const event of recording.events) {
    const number = acknowledgementIn(event);
    if (number !== undefined) acknowledged.add(number);
    disk.follow(event);
    yield { disk, acknowledged };
  }
}

/** The number of the request that is answered with success. */
function acknowledgementIn({ call, isEnd }: TraceEvent): number | undefined {
  if (isEnd || !call.files[0]?.startsWith("socket:")) return undefined;
  const text = call.strings[0]?.toString("latin1", 0, 2_000) ?? "";
  const number = text.startsWith("HTTP/1.1 2") ? ACKNOWLEDGEMENT.exec(text)?.[1] : undefined;
  return number === undefined ? undefined : Number(number);
}

/** The files of which the disk and the file system differ; none, if the trace has every change. */
export function differences(disk: Disk): string[] {
  const now = disk.now();
  const real = readdirSync(disk.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(disk.folder.length + 1));
  const differ = (path: string) => {
    const known = now.get(path);
    const file = join(disk.folder, path);
    return known === undefined || !existsSync(file) || !readFileSync(file).equals(known.bytes);
  };
  const files = [...now].filter(([, known]) => known !== undefined).map(([path]) => path);
  return [...new Set([...real, ...files])].filter(differ);
}
