import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseKey } from "../auth/key-format.ts";
import type { Permission } from "../auth/principal.ts";
import type { Sql } from "../db/client.ts";
import { UNFINISHED, writeDurablySync } from "../ops/durable-files.ts";
import { listKeys } from "../platform/api-keys/manage.ts";
import { readMembers } from "../platform/members/queries.ts";
import { CommandError } from "./command-error.ts";
import { findProject, type Project, withDatabase } from "./database.ts";
import { configOf, type Io } from "./io.ts";
import { passingKey } from "./users.ts";

/** Keys that commands have made for themselves, in the data directory. */
const FILE = "command-keys.json";
const SCOPES: readonly Permission[] = ["search.query", "knowledge.lookup"];

interface KeptKey {
  readonly key: string;
  readonly expiresAt: string;
}

/** A project at the address of a service: a key that was sent to one address is not sent to another. */
interface Place {
  readonly address: string;
  /** A slug or an id. */
  readonly project: string;
}

const nameOf = ({ address, project }: Place) => `${address}/projects/${project}`;

function readKeys(file: string): Record<string, KeptKey> {
  try {
    const kept = Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, KeptKey>);
    const now = new Date().toISOString();
    return Object.fromEntries(kept.filter(([, { expiresAt }]) => expiresAt > now));
  } catch {
    return {};
  }
}

/** A key that an earlier command has kept, unless it is over. */
export function keptKey(io: Io, place: Place): string | undefined {
  return readKeys(join(configOf(io).dataDir, FILE))[nameOf(place)]?.key;
}

/**
 * Makes a key that can only search the project, as one of its members. The key is kept for further commands, so that
 * the audit log has one entry per month instead of one per search. Throws a CommandError.
 *
 * @param refused the kept key, if the service has refused it
 */
export async function makeKey(io: Io, place: Place, refused?: string): Promise<string> {
  const { key, expiresAt } = await withDatabase(io, async (sql) => {
    const project = await findProject(sql, place.project);
    if (refused !== undefined) await requireRefusal(sql, place, project, refused);
    return await passingKey(sql, project, { name: "tessera search", scopes: SCOPES });
  });
  const { dataDir } = configOf(io);
  const file = join(dataDir, FILE);
  const keys = { ...readKeys(file), [nameOf(place)]: { key, expiresAt: expiresAt.toISOString() } };
  // Two commands may write concurrently. The file is replaced as a whole, so readers find a complete one.
  const temporary = `${file}.${process.pid}${UNFINISHED}`;
  try {
    mkdirSync(dataDir, { recursive: true });
    // Only the owner of the data directory can read the file. That user can read the database in it as well.
    writeDurablySync(file, `${JSON.stringify(keys)}\n`, { temporary });
  } catch (error) {
    throw new CommandError(
      `the key of this command cannot be kept in ${dataDir} (${(error as Error).message}): use --key or TESSERA_API_KEY`,
    );
  }
  return key;
}

/** Throws a CommandError if the key is valid here: the service must have another database, which no key helps. */
async function requireRefusal(
  sql: Sql,
  { address }: Place,
  { id }: Project,
  key: string,
): Promise<void> {
  const reference = parseKey(key)?.keyPrefix;
  const [valid] = await listKeys(sql, { reference, projectId: id });
  if (valid === undefined) return;
  const members = await readMembers(sql, id);
  if (!members.some((member) => (member.email ?? member.id) === valid.user)) return;
  throw new CommandError(
    `the service at ${address} refuses a key of this database: give this command the same DATABASE_URL, or use --key`,
  );
}
