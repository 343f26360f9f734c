import { Database, SQLiteError } from "bun:sqlite";
import { chownSync, statSync } from "node:fs";
import pRetry from "p-retry";
import { EMBEDDED_LOCK_TIMEOUT_MS } from "../../shared/limits.ts";
import { isRoot } from "./account.ts";
import { EmbeddedDatabaseError, explainFileError } from "./failure.ts";
import { processIdentity } from "./processes.ts";

const EMBEDDED_LOCK_RETRY_MS = 25;
/** A longer wait for another process that starts or stops the server is logged. */
const EMBEDDED_LOCK_REPORT_MS = 2_000;

/** The processes that use a server. Only the holder of the lock may read or change them. */
type Users = {
  /** Registers this process and returns the token for `remove`. */
  add(): string;
  remove(token: string): void;
  /** Whether any running process uses the server. Removes those that died. */
  any(): boolean;
};

/**
 * Runs `action` while no other process starts, joins or stops the same PostgreSQL. Lock and list
 * are one SQLite file: the kernel releases the lock of a process that dies, and an incomplete
 * transaction leaves the list unchanged.
 */
export async function withUsers<Result>(
  file: string,
  log: (line: string) => void,
  action: (users: Users) => Promise<Result>,
): Promise<Result> {
  const database = await lock(file, log);
  try {
    const result = await action(usersIn(database));
    database.run("COMMIT");
    return result;
  } finally {
    // Closing rolls back an open transaction and releases the lock.
    database.close();
  }
}

async function lock(file: string, log: (line: string) => void): Promise<Database> {
  const database = open(file);
  const begun = Date.now();
  let reported = false;
  const begin = () => {
    database.run("BEGIN IMMEDIATE");
    database.run(
      "CREATE TABLE IF NOT EXISTS users (token TEXT PRIMARY KEY, pid INTEGER, mark TEXT)",
    );
  };
  const waitWhileBusy = (error: Error) => {
    if (!(error instanceof SQLiteError) || !error.code?.startsWith("SQLITE_BUSY")) throw error;
    const waited = Date.now() - begun;
    if (waited > EMBEDDED_LOCK_TIMEOUT_MS) {
      throw new EmbeddedDatabaseError(
        `another process has been starting or stopping PostgreSQL for too long: end it, then try again (lock: ${file})`,
      );
    }
    if (waited > EMBEDDED_LOCK_REPORT_MS && !reported) {
      log("waiting for another process that starts or stops PostgreSQL");
      reported = true;
    }
  };
  try {
    await pRetry(begin, {
      retries: Number.POSITIVE_INFINITY,
      factor: 1,
      minTimeout: EMBEDDED_LOCK_RETRY_MS,
      onFailedAttempt: ({ error }) => waitWhileBusy(error),
    });
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function open(file: string): Database {
  try {
    const database = new Database(file, { create: true });
    // When root joins the cluster of an ordinary user, that user must be able to write the list.
    if (isRoot()) chownToFolderOwner(file);
    return database;
  } catch (error) {
    throw explainFileError(file, error instanceof SQLiteError ? fileErrorOf(error) : error);
  }
}

function chownToFolderOwner(file: string): void {
  const { uid, gid } = statSync(file.slice(0, file.lastIndexOf("/")));
  if (statSync(file).uid !== uid) chownSync(file, uid, gid);
}

/** SQLite reports "cannot open" for a missing permission, so this adds the file system's code. */
function fileErrorOf(error: SQLiteError): Error {
  return Object.assign(new Error(error.message), { code: "EACCES" });
}

function usersIn(database: Database): Users {
  return {
    add() {
      const token = crypto.randomUUID();
      const mark = processIdentity(process.pid) ?? "";
      database.run("INSERT INTO users VALUES (?, ?, ?)", [token, process.pid, mark]);
      return token;
    },
    remove(token) {
      database.run("DELETE FROM users WHERE token = ?", [token]);
    },
    any() {
      const rows = database
        .query<{ token: string; pid: number; mark: string }, []>(
          "SELECT token, pid, mark FROM users",
        )
        .all();
      const dead = rows.filter(({ pid, mark }) => processIdentity(pid) !== mark);
      for (const { token } of dead) database.run("DELETE FROM users WHERE token = ?", [token]);
      return rows.length > dead.length;
    },
  };
}
