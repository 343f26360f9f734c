import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startApi } from "../../support/api/api.ts";
import { callCommand } from "../../support/processes/command.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { folderWithCluster } from "../../support/processes/own-postgres.ts";
import { startServer } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";

const addressIn = (dataDir: string) => readFileSync(join(dataDir, "service.json"), "utf8");

/** What a service says that does not start. */
async function refusal(env: Record<string, string>): Promise<string> {
  const outcome = await startServer({ env }).then(
    () => "it started",
    (error: Error) => error.message,
  );
  expect(outcome).toContain("ended with status 1");
  return outcome.slice(outcome.indexOf("\n") + 1);
}

test("a second service on the data of an embedded database is refused by the first one's process and address, which commands still find", async () => {
  const DATA_DIR = await folderWithCluster();
  const first = await startServer({ env: { DATA_DIR } });
  const PORT = new URL(first.url).port;
  const address = addressIn(DATA_DIR);
  expect(await refusal({ DATA_DIR, PORT })).toBe(
    `tessera: a service runs on the data directory ${DATA_DIR} already: process ${first.pid} at ${first.url}; ` +
      "stop it first, or give this one another DATA_DIR\n",
  );
  expect(addressIn(DATA_DIR)).toBe(address);
  const doctor = async () =>
    (await callCommand(["doctor", "--json"], { env: { DATA_DIR } })).stdout;
  expect(await doctor()).toContain(`answers at ${first.url}`);

  first.kill("SIGKILL");
  await first.exited;
  expect(await doctor()).toContain(`${first.url} does not answer`);
  // The id of a killed process may be another one's by now, here that of this test.
  writeFileSync(join(DATA_DIR, "service.lock"), `${process.pid} anywhere ${first.url}\n`);
  const next = await startServer({ env: { DATA_DIR } });
  expect(JSON.parse(addressIn(DATA_DIR))).toMatchObject({ url: next.url, pid: next.pid });
  const found = await doctor();
  expect(found).toContain(`answers at ${next.url}`);
  expect(found).not.toContain("warning");
});

test("of services that start at once on the data of an embedded database exactly one wins", async () => {
  const DATA_DIR = await folderWithCluster();
  const starts = await Promise.allSettled([1, 2].map(() => startServer({ env: { DATA_DIR } })));
  const winners = starts.filter((start) => start.status === "fulfilled");
  const [winner] = winners;
  expect(winners).toHaveLength(1);
  expect(JSON.parse(addressIn(DATA_DIR)).pid).toBe(winner?.value.pid);
  for (const start of starts) {
    if (start.status === "rejected")
      expect(start.reason.message).toContain(`process ${winner?.value.pid}`);
  }
});

test("services that share a data directory and another database are found one after the other", async () => {
  const DATA_DIR = dataFolder();
  const first = await startApi({ env: { DATA_DIR } });
  const env = { DATABASE_URL: first.databaseUrl, DATA_DIR };
  const second = await startServer({ env });
  expect(second.logs()).toContain(
    `another service (process ${process.pid} at ${first.url}) runs on this data directory`,
  );
  expect(JSON.parse(addressIn(DATA_DIR)).url).toBe(first.url);
  await first.stop();
  await until("commands find the second service", async () => {
    const found = await callCommand(["doctor", "--json"], { env });
    return found.stdout.includes(`answers at ${second.url}`);
  });
});
