/** The folder of the programs of a PostgreSQL with pgvector, for tests that start servers of their own. */
export const BIN_VARIABLE = "TESSERA_TEST_ENGINE_BIN";

/** The URL of a database that a coordinator of Citus distributes; absent without Citus. */
export const CITUS_VARIABLE = "TESSERA_TEST_CITUS";

/** A variable that `npm run test:engine` sets. */
export function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing: run npm run test:engine`);
  return value;
}
