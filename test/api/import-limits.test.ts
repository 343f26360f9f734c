import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { Sql } from "../../src/db/client.ts";
import { IMPORTS_MAX } from "../../src/domain/limits.ts";
import { startApi, startApiProcess, type TestProject } from "../../support/api/api.ts";
import { allChanged, file, importsOf, openUpload, PRODUCTION } from "../../support/api/imports.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { ndjson } from "../../support/ndjson.ts";
import { until } from "../../support/until.ts";

const MAX_BYTES = 100_000;
/** Of other operations. */
const MAX_BODY_BYTES = 1_000;
const api = await startApi({
  env: { IMPORT_MAX_BYTES: String(MAX_BYTES), MAX_BODY_BYTES: String(MAX_BODY_BYTES) },
});
const owner = await api.user();
const { post, report, working } = importsOf(api, owner);
const TYPE = { "content-type": "application/x-ndjson" };

const refusedLines = (bytes: number): string =>
  `${"x".repeat(99)}\n`.repeat(Math.ceil(bytes / 100));

describe("the body of an import", () => {
  test("of another type or encoding is answered 415 with what is accepted", async () => {
    const project = await api.project(owner);
    const path = `/projects/${project.slug}/import`;
    const send = (headers: Record<string, string>) =>
      api.send("POST", path, { as: owner, body: ndjson([PRODUCTION]), headers });
    for (const type of ["application/json", "text/plain", "application/octet-stream"]) {
      const answer = await send({ "content-type": type });
      expect(answer.status).toBe(415);
      expect(answer.headers.get("accept")).toBe("application/x-ndjson");
    }
    for (const encoding of ["compress", "gzip, gzip", "constructor"]) {
      const answer = await send({ ...TYPE, "content-encoding": encoding });
      expect(answer.status).toBe(415);
      expect(answer.headers.get("accept-encoding")).toBe("gzip, deflate, br, zstd, identity");
    }
    expect((await send({ "content-type": "Application/X-NDJSON; charset=utf-8" })).status).toBe(
      200,
    );
  });

  test("above the limit is answered 413, declared, in chunks or only when decompressed", async () => {
    const project = await api.project(owner);
    const path = `/projects/${project.slug}/import`;
    const text = refusedLines(MAX_BYTES + 100);
    const chunks = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      },
    });
    const zipped = Bun.gzipSync(new TextEncoder().encode(text));
    const packed = Bun.zstdCompressSync(text);
    for (const body of [zipped, packed]) expect(body.byteLength).toBeLessThan(MAX_BYTES);
    for (const [body, headers] of [
      [text, TYPE],
      [chunks, TYPE],
      [zipped, { ...TYPE, "content-encoding": "gzip" }],
      [packed, { ...TYPE, "content-encoding": "zstd" }],
    ] as const) {
      const answer = await api.send("POST", path, { as: owner, body: body as never, headers });
      expect(answer.status).toBe(413);
      expect(answer.body.slug).toBe("payload-too-large");
    }
    expect(await report(project, [refusedLines(MAX_BYTES - 200).trim()])).toMatchObject({
      changed: 0,
    });
  });

  test("declared above the limit is answered 413 before any of it has arrived", async () => {
    const project = await api.project(owner);
    const { key } = await api.key(owner);
    const head = `POST /projects/${project.slug}/import HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n`;
    const body = `Content-Type: application/x-ndjson\r\nContent-Length: ${MAX_BYTES + 1}\r\n\r\n`;
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1", () => {
      socket.write(head + body);
    });
    socket.on("data", (bytes) => resolve(bytes.toString("latin1")));
    socket.on("close", () => resolve("closed"));
    onCleanup(() => void socket.destroy());
    expect(await promise).toStartWith("HTTP/1.1 413 ");
  });

  test("larger than the limit of other operations is imported", async () => {
    const project = await api.project(owner);
    const lines = [PRODUCTION, ...Array.from({ length: 50 }, (_, i) => file(`${i}.md`))];
    expect(ndjson(lines).length).toBeGreaterThan(MAX_BODY_BYTES);
    expect(await report(project, lines)).toEqual(allChanged(lines.length));
  });
});

async function stored(project: TestProject): Promise<number> {
  const [row] = await api.sql`SELECT count(*)::integer AS count FROM files
    WHERE project_id = ${project.id}`;
  return row?.["count"] as number;
}

/** Waits until an import that is under way has the temporary tables of its session. */
const untilBegun = (sql: Sql) =>
  until("the import has begun", async () => {
    const tables = await sql`SELECT FROM pg_class WHERE relname = 'import_scopes'`;
    return tables.length > 0;
  });

describe("an upload", () => {
  test("that is broken off changes no scope, frees its place, and is completed by a repetition", async () => {
    const project = await api.project(owner);
    await report(project, [PRODUCTION]);
    for (let i = 0; i < IMPORTS_MAX; i++) {
      const upload = openUpload(api, project, owner);
      await upload.write(ndjson([file("a.md"), file("b.md")]));
      await untilBegun(api.sql);
      upload.abort();
      await until("its place is free", async () => (await post(project, [])).status === 200);
      expect(await working(project)).toEqual([]);
    }
    expect(await report(project, [file("a.md"), file("b.md")])).toMatchObject({ refused: 0 });
    expect(await working(project)).toEqual(["a.md", "b.md"]);
    expect(await stored(project)).toBe(2);
  });

  test("that arrives slowly is imported completely", async () => {
    const project = await api.project(owner);
    const upload = openUpload(api, project, owner);
    for (const line of [PRODUCTION, file("a.md"), file("b.md")]) {
      const text = ndjson([line]);
      await upload.write(text.slice(0, 20));
      await Bun.sleep(200);
      await upload.write(text.slice(20));
    }
    await upload.end();
    expect(await (await upload.answer).json()).toEqual(allChanged(3));
  });

  test("one caller's uploads that never end leave places to others", async () => {
    const project = await api.project(owner);
    const uploads: ReturnType<typeof openUpload>[] = [];
    // An upload may fail on a connection that the service has just closed, and then holds no place.
    await until("the uploads have all places", async () => {
      const upload = openUpload(api, project, owner);
      uploads.push(upload);
      upload.write("\n").catch(() => {});
      return (await post(project, [])).status === 503;
    });
    const refused = await post(project, []);
    expect(refused.body.slug).toBe("overloaded");
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    const { owner: other, project: theirs } = await api.ownedProject();
    const imported = await importsOf(api, other).report(theirs, [PRODUCTION]);
    expect(imported).toEqual(allChanged(1));
    for (const upload of uploads) upload.abort();
    await until("a place is free", async () => (await post(project, [])).status === 200);
  });
});

const service = await startApiProcess();
const caller = await service.user();

describe("the service", () => {
  test("answers or closes when it is stopped during an import, and changes no scope", async () => {
    const project = await service.project(caller);
    await importsOf(service, caller).report(project, [PRODUCTION]);
    const upload = openUpload(service, project, caller);
    await upload.write(ndjson([file("a.md")]));
    await untilBegun(service.sql);
    service.server.kill("SIGTERM");
    expect(await service.server.exited).toBe(0);
    await upload.answer.catch(() => {});
    const [row] = await service.sql`SELECT count(*)::integer AS count FROM environment_files`;
    expect(row?.["count"]).toBe(0);
  });
});
