import { addApiKey, addEnvironment, addProject, addUser } from "../../support/accounts.ts";
import { startDatabase } from "../../support/bench/database.ts";
import { BenchServer } from "../../support/bench/server.ts";

/** A service with an empty database for this run, and a key of a user who owns the project. */
export async function startOwnService(
  project: string,
  environment: string,
): Promise<{ readonly url: string; readonly key: string; readonly pid: number }> {
  const { dataDir, sql } = await startDatabase();
  const owner = await addUser(sql, "bench@example.com");
  await addEnvironment(sql, await addProject(sql, owner, project), environment);
  const { key } = await addApiKey(sql, owner);
  const server = await BenchServer.start({ DATA_DIR: dataDir });
  return { url: server.url.origin, key, pid: server.pid };
}
