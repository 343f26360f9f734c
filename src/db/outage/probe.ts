import postgres from "postgres";
import { sessionOf } from "../session/session.ts";
import { PoolSockets } from "./pool-sockets.ts";

/** States in which a server answers but is starting or shutting down. */
const STOPPED_STATES = /^57P0/;

export interface Probe {
  /** True when the server has answered, even with an error. */
  readonly answer: Promise<boolean>;
  /** Ends the probe; `answer` then settles. */
  stop(): void;
}

/** Asks the server for a sign of life, over a connection of its own. */
export function startProbe(url: string): Probe {
  const sockets = new PoolSockets();
  const session = sessionOf(url);
  const sql = postgres(session.url, {
    ...(session.path === undefined ? {} : { path: session.path }),
    max: 1,
    fetch_types: false,
    prepare: false,
    onnotice: () => {},
    connection: { ...session.parameters, application_name: "tessera-probe" },
    socket: (address: Parameters<PoolSockets["connect"]>[0]) => sockets.connect(address),
  } as postgres.Options<Record<string, never>>);
  const answer = sql`SELECT 1`.then(
    () => true,
    (error: unknown) => {
      const isAnswer = error instanceof postgres.PostgresError;
      return isAnswer && !STOPPED_STATES.test(error.code);
    },
  );
  void answer.finally(() => sql.end({ timeout: 0 }));
  return { answer, stop: () => sockets.closeSilent(0) };
}
