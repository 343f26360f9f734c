import { describe, expect, test } from "bun:test";
import { dataFolder } from "../../support/processes/embedded.ts";
import { freePort } from "../../support/processes/ports.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";

/** Starts the server on a known port, without waiting for it to be ready. */
async function started(databaseUrl: string) {
  const port = await freePort();
  const child = Bun.spawn(["bun", "src/main.ts"], {
    cwd: PROJECT_ROOT,
    env: {
      ...process.env,
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataFolder(),
      LOG_LEVEL: "warn",
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  return { child, url: `http://127.0.0.1:${port}` };
}

async function statusOf(url: string): Promise<number | undefined> {
  return (await fetch(url).catch(() => undefined))?.status;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(20);
}

describe("a start while the database does not answer", () => {
  test("a start without a database is alive, not ready and logs why; SIGTERM ends it cleanly", async () => {
    const nobody = `postgres://user:hunter2@127.0.0.1:${await freePort()}/none`;
    const { child, url } = await started(nobody);
    await until(async () => (await statusOf(`${url}/livez`)) === 200);
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
    const target = new URL(databaseUrl);
    const port = await freePort();
    const through = new URL(databaseUrl);
    through.port = String(port);
    const { child, url } = await started(through.href);
    await until(async () => (await statusOf(`${url}/livez`)) === 200);
    expect(await statusOf(`${url}/readyz`)).toBe(503);
    const relay = Bun.listen<{ out?: Awaited<ReturnType<typeof Bun.connect>>; early: Buffer[] }>({
      hostname: "127.0.0.1",
      port,
      socket: {
        async open(socket) {
          socket.data = { early: [] };
          const out = await Bun.connect({
            hostname: target.hostname,
            port: Number(target.port),
            socket: {
              data: (_, bytes) => void socket.write(bytes),
              close: () => void socket.end(),
            },
          });
          for (const bytes of socket.data.early) out.write(bytes);
          socket.data.out = out;
        },
        data(socket, bytes) {
          if (socket.data.out) socket.data.out.write(bytes);
          else socket.data.early.push(Buffer.from(bytes));
        },
        close: (socket) => void socket.data.out?.end(),
      },
    });
    await until(async () => (await statusOf(`${url}/readyz`)) === 200);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    relay.stop(true);
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
