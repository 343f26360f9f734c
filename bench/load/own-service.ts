import { addApiKey, addEnvironment, addProject, addUser } from "../../support/accounts.ts";
import type { BenchContext } from "../harness/context.ts";

/** A service with an empty database for this run, and a key of a user who owns the project. */
export async function startOwnService(
  context: BenchContext,
  project: string,
  environment: string,
): Promise<{ readonly url: string; readonly key: string; readonly pid: number }> {
  const { env, sql } = await context.openDatabase();
  const owner = await addUser(sql, "bench@example.com");
  await addEnvironment(sql, await addProject(sql, owner, project), environment);
  const { key } = await addApiKey(sql, owner);
  const server = await context.startServer(env);
  return { url: server.url.origin, key, pid: server.pid };
}
