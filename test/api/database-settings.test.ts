import { describe, expect, test } from "bun:test";
import { Glob } from "bun";
import postgres from "postgres";
import { requireSession, sessionOf } from "../../src/db/session/session.ts";
import { loadConfig } from "../../src/ops/config/load.ts";
import { serve } from "../../src/serve.ts";
import { startApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { callCommand } from "../../support/processes/command.ts";
import { createEmptyDatabase, type TestDatabase } from "../../support/processes/postgres.ts";
import { environment } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";
import { addWebhook } from "../../support/webhooks.ts";
import { deliveriesThrough, keyed } from "./webhook-deliveries.ts";

/** What an administrator may have set for a database, each at its worst. */
const SETTINGS = {
  bytea_output: "'escape'",
  datestyle: "'German, DMY'",
  intervalstyle: "'sql_standard'",
  timezone: "'Asia/Kathmandu'",
  array_nulls: "off",
  extra_float_digits: "-15",
  standard_conforming_strings: "off",
  search_path: "pg_catalog",
  default_transaction_isolation: "'serializable'",
  default_transaction_read_only: "on",
  row_security: "off",
  transform_null_equals: "on",
  statement_timeout: "1",
  lock_timeout: "1",
  idle_session_timeout: "200",
  idle_in_transaction_session_timeout: "1",
};
const TURKISH = "LOCALE_PROVIDER icu ICU_LOCALE 'tr'";
const BYTES = "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'";

async function databaseWith(settings: Record<string, string>, locale: string) {
  const database = await createEmptyDatabase(locale);
  const name = new URL(database.url).pathname.slice(1);
  for (const [setting, value] of Object.entries(settings)) {
    await database.sql.unsafe(`ALTER DATABASE ${name} SET ${setting} = ${value}`);
  }
  return database;
}

const startOn = ({ sql, url }: TestDatabase) => startApi({ beside: { sql, databaseUrl: url } });

describe.each([
  ["German dates and a Turkish locale", SETTINGS, TURKISH],
  ["SQL dates and no locale", { ...SETTINGS, datestyle: "'SQL, DMY'" }, BYTES],
])("a database with unusual settings, %s", (_name, settings, locale) => {
  test("is served like any other: keys, projects, files, imports, searches, deliveries, lists, exports and commands", async () => {
    const database = await databaseWith(settings, locale);
    const api = await startOn(database);
    const owner = await api.user({ email: "owner@example.com" });
    const created = await api.post("/projects", { name: "Docs", slug: "docs" }, owner);
    expect(created.text).toContain('"slug":"docs"');
    const project = created.body;
    const key = await api.post(
      "/api-keys",
      { name: "k", expires_at: "2090-03-04T05:06:07.890Z" },
      owner,
    );
    expect([key.status, key.body.expires_at]).toEqual([201, "2090-03-04T05:06:07.890Z"]);
    const caller = { userId: owner.userId, headers: { "x-api-key": key.body.key } };

    const imported = await importsOf(api, caller).post(project, [
      { record: "environment", name: "production" },
      {
        record: "file",
        path: "a.md",
        environments: ["production"],
        content: "# \\Alpha\n",
        chunks: [{ content: "\\Alpha", embedding: Array(768).fill(0.123456789), token_count: 1 }],
      },
    ]);
    expect(imported.text).toContain(`"errors":[]`);
    const base = `/projects/${project.slug}`;
    for (const path of ["b.md", "Z.md", "ı.md", "i.md", "I.md"]) {
      const put = await api.putText(caller, project, path, `# ${path}\n`);
      expect(put.status, path).toBe(201);
    }
    const { body: files } = await api.get(`${base}/files`, caller);
    expect(files.data.map((file: { path: string }) => file.path)).toEqual([
      ...["I.md", "Z.md", "a.md", "b.md", "i.md", "ı.md"],
    ]);
    const release = await api.post(
      `${base}/releases`,
      { name: "v1", environment: "production" },
      caller,
    );
    expect(release.text).toContain("v1");
    const search = { vector: Array(768).fill(0.123456789), dimension: 768 };
    await until("the file is found by its vector and by its words", async () => {
      const found = await api.post(`${base}/environments/production/search`, search, caller);
      const looked = await api.post(`${base}/knowledge/lookup`, { query: "alpha" }, caller);
      return found.body.data?.length === 1 && looked.body.data?.length >= 1;
    });
    const read = await api.get(base, caller);
    expect(Date.now() - Date.parse(read.body.created_at)).toBeLessThan(120_000);
    const state = await api.get(`${base}/index-state`, caller);
    expect([state.status, state.body.last_sequence]).toEqual([200, expect.any(Number)]);
    const audit = await api.get(`${base}/audit`, caller);
    expect(audit.status).toBe(200);
    expect(Date.now() - Date.parse(audit.body.data[0].at)).toBeLessThan(120_000);
    const delivery = await deliveriesThrough(api)(
      await addWebhook(api.sql, project),
      '{"path":"C:\\\\new"}',
      keyed("once"),
    );
    expect(delivery.body.payload).toEqual({ path: "C:\\new" });

    const env = { DATABASE_URL: database.url };
    const exported = await callCommand(["export", "--project", project.slug, "--credentials"], {
      env,
    });
    expect(exported.stderr + exported.stdout).toContain('"path":"a.md"');
    const again = await callCommand(["import", "-"], { env, stdin: exported.stdout });
    expect(again.stdout).toStartWith("imported 13 records");
    const { stdout, status } = await callCommand(["doctor", "--json"], { env });
    expect(stdout).toContain('"check":"database sessions","state":"ok"');
    expect(status).toBe(0);
    await api.stop();
  });
});

describe("users of a Turkish database", () => {
  test("one address in any case of A to Z is one user, for commands, imports and tokens, and İ or ı are others", async () => {
    const database = await createEmptyDatabase(TURKISH);
    const env = { DATABASE_URL: database.url };
    const create = (user: string) =>
      callCommand(["keys", "create", "--user", user, "--name", "k", "--create"], { env });
    for (const user of ["istanbul@example.com", "ISTANBUL@EXAMPLE.COM", "Istanbul@example.com"]) {
      expect((await create(user)).status).toBe(0);
    }
    const record = JSON.stringify({ record: "user", email: "iSTANBUL@example.com", name: "I" });
    expect((await callCommand(["import", "-"], { env, stdin: record })).status).toBe(0);
    const emails = () => database.sql`SELECT email FROM users ORDER BY created_at, id`;
    expect(await emails()).toHaveLength(1);
    expect((await create("ıstanbul@example.com")).status).toBe(0);
    expect((await create("İstanbul@example.com")).status).toBe(0);
    expect(await emails()).toHaveLength(3);
  });
});

describe("sessions", () => {
  test("nothing but the pools and the probes connects to PostgreSQL, and both ask for what statements mean", async () => {
    const root = `${import.meta.dir}/../../`;
    const files = await Array.fromAsync(new Glob("{src,workers}/**/*.{ts,tsx}").scan(root));
    const texts = await Promise.all(
      files.map(async (file) => [file, await Bun.file(root + file).text()]),
    );
    const connecting = texts.filter(([, text = ""]) => /\bpostgres\(/.test(text));
    expect(connecting.map(([file]) => file).sort()).toEqual([
      "src/db/client.ts",
      "src/db/outage/outage-guard.ts",
    ]);
    for (const [, text] of connecting) expect(text).toContain("...session.parameters");
    // What the locale of a database decides is decided by bytes instead.
    const local = texts.filter(([, text = ""]) =>
      /\bi?like\s+\$\{|\bilike\b|\binitcap\(|\bcitext\b|[^.\w](lower|upper)\((?![^)]*COLLATE "C")/i.test(
        text.replaceAll(/^ *(\/\/|\*).*$/gm, ""),
      ),
    );
    expect(local.map(([file]) => file)).toEqual([]);
  });

  test("a pooler that drops what sessions ask for is found out, with the settings that are wrong", async () => {
    const { url } = await createEmptyDatabase();
    const raw = postgres(url, { max: 1 });
    const found =
      "bytea_output = escape instead of hex, DateStyle = German, DMY instead of ISO, MDY";
    await expect(requireSession(raw as never)).rejects.toThrow(found);
    await raw.end();
  });

  test("a pooler that refuses what sessions ask for is named, and not waited for", async () => {
    const message = "SFATAL\0C08P01\0Munsupported startup parameter: bytea_output\0\0";
    const answer = Buffer.concat([
      Buffer.from([0x45, 0, 0, 0, 4 + message.length]),
      Buffer.from(message),
    ]);
    const pooler = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (socket) => void socket.end(answer) },
    });
    const env = { DATABASE_URL: `postgres://a:b@127.0.0.1:${pooler.port}/c` };
    const { status, stderr } = await callCommand(["projects", "list"], { env });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining("unsupported startup parameter"),
    });
    const starting = serve(loadConfig(environment({ ...env, LOG_LEVEL: "silent" })));
    await expect(starting).rejects.toThrow("unsupported startup parameter");
    pooler.stop(true);
  });

  test("the parameters that docs/operations.md lets PgBouncer ignore are those that sessions have and it does not know", async () => {
    const text = await Bun.file(`${import.meta.dir}/../../docs/operations.md`).text();
    const ignored = /^ignore_startup_parameters = (.*)$/m.exec(text)?.[1]?.split(", ") ?? [];
    const known = ["client_encoding", "DateStyle", "TimeZone", "standard_conforming_strings"];
    const limits = ["statement_timeout", "idle_in_transaction_session_timeout"];
    const sent = [...Object.keys(sessionOf("postgres://db/x").parameters), ...limits];
    expect(ignored.sort()).toEqual(sent.filter((name) => !known.includes(name)).sort());
  });

  test("the address can name where tables are, and not what statements mean", () => {
    const relied = sessionOf("postgres://db/x").parameters;
    expect(relied).toMatchObject({ bytea_output: "hex", search_path: '"$user", public' });
    const changed = sessionOf(
      "postgres://db/x?datestyle=German&sslmode=require&BYTEA_OUTPUT=escape",
    );
    expect(changed).toEqual({ url: "postgres://db/x?sslmode=require", parameters: relied });
    const { search_path: _, ...others } = relied;
    for (const query of ["search_path=a", "options=-csearch_path%3Da"]) {
      const url = `postgres://db/x?${query}`;
      expect(sessionOf(url)).toEqual({ url, parameters: others });
    }
  });
});
