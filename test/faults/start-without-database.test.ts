import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { untilReady } from "../../support/api/world.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { NOBODY_PORT } from "../../support/processes/ports.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { TestProxy } from "../../support/processes/proxy.ts";
import { until } from "../../support/until.ts";

/** Starts the server, without waiting for it to be ready. */
async function started(databaseUrl: string) {
  const dataDir = dataFolder();
  const child = Bun.spawn(["bun", "src/main.ts"], {
    cwd: PROJECT_ROOT,
    env: {
      ...process.env,
      PORT: "0",
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      LOG_LEVEL: "warn",
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  // A service that listens names its address in its lock, before it has a database.
  const lock = join(dataDir, "service.lock");
  let url: string | undefined;
  await until("the service listens or has ended", () => {
    url = existsSync(lock) ? /http:\S+/.exec(readFileSync(lock, "utf8"))?.[0] : undefined;
    return url !== undefined || child.exitCode !== null;
  });
  return { child, url: url ?? "" };
}

const statusOf = async (url: string) => (await fetch(url)).status;

describe("a start while the database does not answer", () => {
  test("a start without a database is alive, not ready and logs why; SIGTERM ends it cleanly", async () => {
    const nobody = `postgres://user:hunter2@127.0.0.1:${NOBODY_PORT}/none`;
    const { child, url } = await started(nobody);
    expect(await statusOf(`${url}/livez`)).toBe(200);
    expect(await statusOf(`${url}/readyz`)).toBe(503);
    const early = await fetch(`${url}/errors/unauthorized`);
    expect(early.status).toBe(503);
    expect(early.headers.get("content-type")).toBe("application/problem+json");
    expect(early.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await early.json()).toMatchObject({
      type: `${url}/errors/dependency-unavailable`,
      slug: "dependency-unavailable",
      instance: `urn:request:${early.headers.get("x-request-id")}`,
    });
    let said = "";
    for await (const bytes of child.stderr) {
      said += new TextDecoder().decode(bytes);
      if (said.includes("the database does not answer")) child.kill("SIGTERM");
    }
    expect(await child.exited).toBe(0);
    expect(said).not.toContain("hunter2");
  });

  test("a waiting start continues when the database answers", async () => {
    const { url: databaseUrl } = await createTestDatabase();
    const proxy = await TestProxy.start(databaseUrl);
    await using away = proxy.cut();
    const { child, url } = await started(proxy.url);
    expect(await statusOf(`${url}/livez`)).toBe(200);
    expect(await statusOf(`${url}/readyz`)).toBe(503);
    await away.end();
    await untilReady(url);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  });

  test("a start ends at once, with the reason, when the database refuses the account", async () => {
    const { url: databaseUrl } = await createTestDatabase();
    const wrong = new URL(databaseUrl);
    wrong.password = "wrong";
    const { child } = await started(wrong.href);
    expect(await child.exited).toBe(1);
    expect(await new Response(child.stderr).text()).toContain("password authentication failed");
  });
});
