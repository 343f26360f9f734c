import { describe, expect, test } from "bun:test";
import { startApiProcess, type TestApi } from "../../support/api/api.ts";
import { IndexWorld, untilReady } from "../../support/api/index-world.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { createTestDatabase } from "../../support/processes/postgres.ts";
import { startProxy } from "../../support/processes/proxy.ts";
import { random } from "../../support/seed.ts";

const ROUNDS = 4;

type Service = Awaited<ReturnType<typeof startApiProcess>>;

async function killed(service: Service): Promise<void> {
  service.server.kill("SIGKILL");
  await service.server.exited;
}

describe("a service that is killed", () => {
  test("a service killed while indexing returns exact results after a restart", async () => {
    const folder = dataFolder();
    let service = await startApiProcess({ env: { DATA_DIR: folder } });
    const world = await IndexWorld.create(service);
    for (let round = 0; round < ROUNDS; round++) {
      const writing = world.write(30, `round-${round % 2}`);
      await Bun.sleep(random() * 400);
      await killed(service);
      await writing;
      service = await startApiProcess({ beside: service, env: { DATA_DIR: folder } });
      await world.agrees(service.url);
    }
  });

  test("a service killed while saving snapshots returns exact results after a restart", async () => {
    const folder = dataFolder();
    let service = await startApiProcess({ env: { DATA_DIR: folder } });
    const world = await IndexWorld.create(service);
    for (let round = 0; round < ROUNDS; round++) {
      await world.write(20, `round-${round}`);
      await world.agrees(service.url);
      service.server.kill("SIGTERM");
      await Bun.sleep(random() * 60);
      await killed(service);
      service = await startApiProcess({ beside: service, env: { DATA_DIR: folder } });
      await untilReady(service.url);
      await world.agrees(service.url);
    }
  });
});

describe("a service whose database goes away", () => {
  async function behindProxy() {
    const database = await createTestDatabase();
    const address = new URL(database.url);
    const proxy = startProxy(address.hostname, Number(address.port));
    const through = new URL(database.url);
    through.hostname = "127.0.0.1";
    through.port = String(proxy.port);
    // A second service on the same database, which only creates the project.
    const direct = await startApiProcess({
      beside: { sql: database.sql, databaseUrl: database.url } as TestApi,
    });
    const world = await IndexWorld.create(direct);
    await direct.stop();
    const service = await startApiProcess({
      beside: { sql: database.sql, databaseUrl: through.href } as TestApi,
    });
    return { proxy, world, service };
  }

  test("without its database a service is not ready and refuses new callers, and later finds what was written meanwhile", async () => {
    const { proxy, world, service } = await behindProxy();
    await world.write(3);
    await world.agrees(service.url);
    proxy.cut();
    const deadline = Date.now() + 10_000;
    const isReady = async () => (await fetch(`${service.url}/readyz`)).status === 200;
    while ((await isReady()) && Date.now() < deadline) await Bun.sleep(20);
    expect(await isReady()).toBe(false);
    // Nobody who was not known before can be let in.
    const stranger = await world.search(service.url, undefined, 0, await service.token());
    expect(stranger.status).toBe(503);
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
    await world.write(2, "meanwhile");
    proxy.restore();
    await world.agrees(service.url);
    await untilReady(service.url);
  });

  test("a load that loses the database continues once it is back", async () => {
    const { proxy, world, service } = await behindProxy();
    const writing = world.write(40);
    for (let i = 0; i < 5; i++) {
      await Bun.sleep(150);
      proxy.cut();
      await Bun.sleep(50);
      proxy.restore();
    }
    await writing;
    await world.agrees(service.url);
  });

  test("a service without its database still stops on SIGTERM", async () => {
    const { proxy, world, service } = await behindProxy();
    await world.write(3);
    await world.agrees(service.url);
    proxy.cut();
    service.server.kill("SIGTERM");
    expect(await service.server.exited).toBe(0);
  });
});
