import { describe, expect, test } from "bun:test";
import { exportRecords } from "../../../src/content/export/export-records.ts";
import { readFile, readFiles } from "../../../src/content/files/queries.ts";
import { purgeFiles, readReleases } from "../../../src/content/projects/contents.ts";
import { openDatabase, type Sql } from "../../../src/db/client.ts";
import { ChangeLog } from "../../../src/index/changes/change-log.ts";
import { addEnvironment, addProject, addUser, type Project } from "../../../support/accounts.ts";
import { createTestDatabase } from "../../../support/processes/postgres.ts";
import { Random } from "../../../support/random.ts";
import { random } from "../../../support/seed.ts";
import { until } from "../../../support/until.ts";

const { sql, url } = await createTestDatabase();

/** Resolves once a session of this database waits for another. The server has those of other tests, too. */
const untilBlocked = () =>
  until("a statement waits for a lock", async () => {
    const blocked = await sql`SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return blocked.length > 0;
  });
const owner = await addUser(sql);

/** A working set that the test knows, and the releases made of it. */
class World {
  /** The version of each path. */
  readonly files = new Map<string, string>();
  readonly releases = new Map<string, { id: string; files: Map<string, string> }>();

  constructor(
    readonly project: Project,
    readonly environment: string,
  ) {}

  static async create(): Promise<World> {
    const project = await addProject(sql, owner);
    return new World(project, (await addEnvironment(sql, project)).id);
  }

  /** Gives files new versions. */
  async write(paths: readonly string[]): Promise<void> {
    const rows = await sql<{ path: string; version: string }[]>`
      WITH new AS (
        INSERT INTO files (id, project_id, path)
        SELECT gen_random_uuid(), ${this.project.id}, path FROM unnest(${paths as string[]}::text[]) AS path
        ON CONFLICT (project_id, path) DO UPDATE SET path = excluded.path RETURNING id, path
      ), version AS (
        INSERT INTO file_versions (id, project_id, file_id, version_key, content, title)
        SELECT gen_random_uuid(), ${this.project.id}, id, gen_random_uuid()::text, path, path FROM new
        RETURNING id, file_id
      ), held AS (
        INSERT INTO environment_files (project_id, environment_id, file_id, file_version_id)
        SELECT ${this.project.id}, ${this.environment}, file_id, id FROM version
        ON CONFLICT (environment_id, file_id) DO UPDATE SET file_version_id = excluded.file_version_id
      )
      SELECT new.path, version.id AS version FROM version JOIN new ON new.id = version.file_id`;
    for (const { path, version } of rows) this.files.set(path, version);
  }

  async remove(paths: readonly string[]): Promise<void> {
    await sql`DELETE FROM environment_files e USING files f WHERE f.id = e.file_id
      AND e.environment_id = ${this.environment} AND f.path = ANY (${paths as string[]})`;
    for (const path of paths) this.files.delete(path);
  }

  async purge(paths: readonly string[]): Promise<void> {
    await purgeFiles(sql, this.project.id, paths);
    for (const files of [this.files, ...[...this.releases.values()].map((r) => r.files)]) {
      for (const path of paths) files.delete(path);
    }
  }

  /** Freezes the working set. */
  async release(name: string, on: Sql = sql): Promise<void> {
    const { project, environment } = this;
    const id = crypto.randomUUID();
    await on`INSERT INTO releases (id, project_id, name) VALUES (${id}, ${project.id}, ${name})`;
    await on`SELECT fill_release(${id}, ARRAY(
      SELECT file_version_id FROM environment_files WHERE environment_id = ${environment}))`;
    this.releases.set(name, { id, files: new Map(this.files) });
  }

  /** What the model says and what is stored, for all releases. */
  expected() {
    return [...this.releases].map(([name, { files }]) => [name, ...[...files.values()].sort()]);
  }

  /** What the indexes read. */
  async indexed() {
    const log = new ChangeLog(sql);
    const read = async ([name, { id }]: [string, { id: string }]) => {
      const versions = await log.versionsOf(this.project.id, { kind: "release", id });
      return [name, ...(versions ?? []).sort()];
    };
    return await Promise.all([...this.releases].map(read));
  }

  /** What lists of files read. */
  async listed() {
    const read = async ([name, { id }]: [string, { id: string }]) => {
      const rows = await readFiles(sql, this.#scope(id), { prefix: "", limit: 1_000 });
      return [name, ...rows.map((row) => row.version_id).sort()];
    };
    return await Promise.all([...this.releases].map(read));
  }

  /** What SQL reads, as copies of projects do. */
  async selected() {
    const read = async ([name, { id }]: [string, { id: string }]) => {
      const rows = await sql<{ version: string }[]>`
        SELECT r.file_version_id AS version FROM release_files r JOIN file_versions v
        ON v.id = r.file_version_id AND v.file_id = r.file_id WHERE r.release_id = ${id} ORDER BY 1`;
      return [name, ...rows.map((row) => row.version)];
    };
    return await Promise.all([...this.releases].map(read));
  }

  async exported() {
    const found = new Map([...this.releases.keys()].map((name) => [name, [] as string[]]));
    const options = { project: this.project.id, credentials: false };
    for await (const record of exportRecords(sql, options)) {
      const { releases = [], version_id } = record as { releases?: string[]; version_id: string };
      for (const name of releases) found.get(name)?.push(version_id);
    }
    return [...found].map(([name, versions]) => [name, ...versions.sort()]);
  }

  async one(name: string, path: string): Promise<string | undefined> {
    const id = this.releases.get(name)?.id as string;
    return (await readFile(sql, this.#scope(id), { name: path }))?.version_id;
  }

  #scope(id: string) {
    return {
      ...({
        id,
        kind: "release",
        projectId: this.project.id,
        tenant: owner,
        frozen: true,
      } as const),
    };
  }
}

const paths = (count: number) => Array.from({ length: count }, (_, i) => `${i}.md`);

describe("the contents of releases", () => {
  test("are what random changes have left in them, for everybody who reads them", async () => {
    const world = await World.create();
    const draw = new Random(random() * 2 ** 32);
    const some = () => paths(40).filter(() => draw.below(8) === 0);
    await world.write(paths(30));
    for (let i = 0; i < 50; i++) {
      const action = draw.below(10);
      if (action < 3) await world.write(some());
      else if (action === 3) await world.remove(some());
      else if (action === 4 && i % 3 === 0) await world.purge([`${draw.below(40)}.md`]);
      else await world.release(`v${i}`);
    }
    const expected = world.expected();
    expect(await world.indexed()).toEqual(expected);
    expect(await world.listed()).toEqual(expected);
    expect(await world.selected()).toEqual(expected);
    expect(await world.exported()).toEqual(expected);
    for (const [name, { files }] of [...world.releases].slice(-5)) {
      for (const path of paths(40)) expect(await world.one(name, path)).toBe(files.get(path));
    }
    const counts = await readReleases(sql, world.project.id, { limit: 1_000 });
    expect(Object.fromEntries(counts.map(({ name, files }) => [name, files]))).toEqual(
      Object.fromEntries([...world.releases].map(([name, { files }]) => [name, files.size])),
    );
  });

  test("cost as much as they change: releases with 1% changes share the rest, and equal ones share everything", async () => {
    const world = await World.create();
    await world.write(paths(500));
    for (let i = 0; i < 40; i++) {
      await world.write(paths(500).slice(i * 5, i * 5 + 5));
      await world.release(`v${i}`);
      await world.release(`same${i}`);
    }
    const [row] = await sql`
      SELECT count(*)::integer AS rows, sum(cardinality(versions))::integer AS versions
      FROM release_contents WHERE project_id = ${world.project.id}`;
    expect(row?.["rows"]).toBe(40);
    // Two full copies and ten ids for each difference; rows would be 40,000.
    expect(row?.["versions"]).toBeLessThan(2_000);
    expect(await world.indexed()).toEqual(world.expected());
  });

  test("never change once they are frozen, whatever SQL asks for", async () => {
    const world = await World.create();
    await world.write(paths(2));
    await world.release("v1");
    await world.write(paths(3));
    await world.release("v2");
    const [v1, v2] = [...world.releases.values()].map(({ id }) => id) as [string, string];
    const attempts = [
      () => sql`SELECT fill_release(${v1}, '{}')`,
      () => sql`UPDATE releases SET contents_id = (SELECT contents_id FROM releases WHERE id = ${v2})
        WHERE id = ${v1}`,
      () => sql`UPDATE release_contents SET versions = '{}' WHERE project_id = ${world.project.id}`,
      () => sql`DELETE FROM release_contents WHERE project_id = ${world.project.id}`,
    ];
    for (const attempt of attempts) {
      const error = await attempt().then(
        () => undefined,
        (thrown: { code: string }) => thrown,
      );
      expect(error?.code).toStartWith("23");
    }
    expect(await world.indexed()).toEqual(world.expected());
  });

  test("a connection that is lost while it creates a release leaves nothing of it", async () => {
    const world = await World.create();
    await world.write(paths(5));
    const lost = openDatabase(url, { connections: 1 });
    const creation = lost.begin(async (tx) => {
      await world.release("lost", tx as unknown as Sql);
      const [row] = await tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      await sql`SELECT pg_terminate_backend(${row?.pid as number}, 10000)`;
      await tx`SELECT 1`;
    });
    expect(await creation.catch(() => "failed")).toBe("failed");
    await lost.end();
    expect(await readReleases(sql, world.project.id, { limit: 1_000 })).toEqual([]);
    const left = await sql`SELECT 1 FROM release_contents WHERE project_id = ${world.project.id}`;
    expect(left).toHaveLength(0);
  });

  test("a file that is purged while a release with it is created is in no release", async () => {
    const world = await World.create();
    await world.write(paths(4));
    let purged: Promise<unknown> | undefined;
    await sql.begin(async (tx) => {
      await world.release("v1", tx as unknown as Sql);
      purged = world.purge(["0.md"]);
      await untilBlocked();
    });
    await purged;
    expect(world.releases.get("v1")?.files.size).toBe(3);
    expect(await world.indexed()).toEqual(world.expected());

    await sql.begin(async (tx) => {
      await tx`DELETE FROM file_versions WHERE id = ${world.files.get("1.md") as string}`;
      const creation = world.release("v2");
      await untilBlocked();
      purged = creation;
    });
    await purged;
    for (const { files } of world.releases.values()) files.delete("1.md");
    expect(await world.indexed()).toEqual(world.expected());
  });

  test("releases of two environments that are frozen at once have their own files", async () => {
    const world = await World.create();
    const other = new World(
      world.project,
      (await addEnvironment(sql, world.project, "staging")).id,
    );
    await world.write(paths(20));
    await other.write(paths(40).slice(20));
    for (let i = 0; i < 5; i++) {
      await world.write([`${i}.md`]);
      await Promise.all([world.release(`a${i}`), other.release(`b${i}`)]);
    }
    expect(await world.indexed()).toEqual(world.expected());
    expect(await other.indexed()).toEqual(other.expected());
  });
});
