import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SignJWT } from "jose";
import { openDatabase, type Sql } from "../../../src/db/client.ts";
import { type Caller, JWT_SECRET } from "../../../support/api/api.ts";
import { CATALOGUE, environment, PERMISSION, SECRET_KEY } from "../../../support/api/billing.ts";
import { BillingProvider } from "../../../support/api/billing-provider.ts";
import { Contract } from "../../../support/api/openapi.ts";
import { onCleanup, startShared } from "../../../support/cleanup.ts";
import { dataFolder } from "../../../support/processes/embedded.ts";
import { type OwnPostgres, startOwnPostgres } from "../../../support/processes/own-postgres.ts";
import { startRedis, type TestRedis } from "../../../support/processes/redis.ts";
import {
  giveToOwnerOf,
  mountSmallDisk,
  type SmallDisk,
} from "../../../support/processes/small-disk.ts";
import { Service } from "./service.ts";

/** What requests and imports write. The log of PostgreSQL stays on a disk with space. */
const TABLES = [
  ...["conversations", "messages", "runs", "webhook_events", "input_responses"],
  ...["files", "file_versions", "chunks", "projects", "api_keys", "environment_files"],
];
const DATABASE_DISK_MB = 4_096;
const SNAPSHOT_DISK_MB = 2_048;
const IMPORT_CONNECTIONS = 16;
const TOKEN_LIFETIME_SECONDS = 7_200;
/** A fault is felt for this long after its end: services start, caches expire, circuits close. */
const AFTERMATH_MS = 12_000;

/** How often the machine is watched, and how late a timer must be for it to count as stalled. */
const WATCH_MS = 250;
const STALL_MS = 1_500;

/** All processes that a run needs: two services that share PostgreSQL, Redis and a provider. */
export class World {
  /** Faults that are in effect. */
  #active = 0;
  #calmSince = 0;

  static #shared: Promise<World> | undefined;

  private constructor(
    readonly postgres: OwnPostgres,
    readonly redis: TestRedis,
    readonly provider: BillingProvider,
    readonly services: readonly Service[],
    readonly disks: { readonly database: SmallDisk; readonly snapshots: SmallDisk },
    readonly contract: Contract,
    /** A pool as commands use it, for imports. */
    readonly importer: Sql,
  ) {}

  /** The world that all tests of a process share. */
  static shared(): Promise<World> {
    World.#shared ??= startShared(World.start);
    return World.#shared;
  }

  static async start(): Promise<World> {
    // Mounted first, so that they are there until those who write to them have ended.
    const database = await mountSmallDisk(DATABASE_DISK_MB);
    const snapshots = await mountSmallDisk(SNAPSHOT_DISK_MB);
    const [postgres, redis] = await Promise.all([startOwnPostgres(), startRedis()]);
    const space = join(database.path, "space");
    mkdirSync(space);
    giveToOwnerOf(space, postgres.cluster);
    await postgres.sql.unsafe(`CREATE TABLESPACE small LOCATION '${space}'`);
    for (const table of TABLES) {
      await postgres.sql.unsafe(`ALTER TABLE ${table} SET TABLESPACE small`);
    }
    const provider = new BillingProvider({ secretKey: SECRET_KEY, prices: CATALOGUE });
    const variables = {
      ...environment(provider),
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      LOG_LEVEL: "warn",
      SEARCH_WORKERS: "2",
      JWT_SECRET,
    };
    const services = await Promise.all([
      // Its snapshots are on a disk that fills up.
      Service.start({ ...variables, DATA_DIR: snapshots.path }),
      // It has to unload idle projects, and loads others when they are searched.
      Service.start({ ...variables, DATA_DIR: dataFolder(), INDEX_MEMORY_BYTES: "1048576" }),
    ]);
    const document = await (await fetch(`${services[0]?.url}/docs/json`)).json();
    const importer = openDatabase(postgres.url, {
      connections: IMPORT_CONNECTIONS,
      statementTimeoutMs: 0,
    });
    onCleanup(() => importer.end({ timeout: 1 }));
    const disks = { database, snapshots };
    const contract = new Contract(document);
    const world = new World(postgres, redis, provider, services, disks, contract, importer);
    world.#watchMachine();
    return world;
  }

  /** A machine that is too busy to run timers in time disturbs like a fault. */
  #watchMachine(): void {
    let last = Date.now();
    const timer = setInterval(() => {
      const now = Date.now();
      if (now - last > WATCH_MS + STALL_MS) this.#calmSince = now;
      last = now;
    }, WATCH_MS);
    onCleanup(() => clearInterval(timer));
  }

  service(at: number): Service {
    return this.services[at % this.services.length] as Service;
  }

  /** Marks the time during which requests may fail. */
  async disturb<T>(fault: () => Promise<T>): Promise<T> {
    this.#active++;
    try {
      return await fault();
    } finally {
      this.#active--;
      this.#calmSince = Date.now();
    }
  }

  /** Milliseconds since the last fault could be felt; negative while one can be. */
  get calmMs(): number {
    return this.#active > 0 ? -AFTERMATH_MS : Date.now() - this.#calmSince - AFTERMATH_MS;
  }

  /** A user who calls with a token, and may start upgrades. */
  async caller(userId: string): Promise<Caller> {
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iat: now, exp: now + TOKEN_LIFETIME_SECONDS, permissions: [PERMISSION] };
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: "HS256" })
      .setSubject(userId)
      .sign(new TextEncoder().encode(JWT_SECRET));
    return { userId, headers: { authorization: `Bearer ${token}` } };
  }
}
