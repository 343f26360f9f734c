import { expect } from "bun:test";
import { ndjson } from "../ndjson.ts";
import type { Answer, Caller, TestApi, TestProject } from "./api.ts";
import type { Json } from "./openapi.ts";

type Line = object | string;

interface ImportOptions {
  readonly as?: Caller;
  readonly strict?: boolean;
  readonly encoding?: "gzip" | "zstd";
}

function encoded(text: string, encoding: ImportOptions["encoding"]): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  if (encoding === "gzip") return Bun.gzipSync(bytes);
  return encoding === "zstd" ? new Uint8Array(Bun.zstdCompressSync(bytes)) : bytes;
}

/** Imports over HTTP, by this caller unless another one is named. */
export function importsOf(api: TestApi, caller: Caller) {
  async function post(
    project: TestProject,
    lines: readonly Line[],
    { as = caller, strict, encoding }: ImportOptions = {},
  ): Promise<Answer> {
    const query = strict === undefined ? "" : `?strict=${strict}`;
    return await api.send("POST", `/projects/${project.slug}/import${query}`, {
      as,
      body: encoded(ndjson(lines), encoding),
      headers: {
        "content-type": "application/x-ndjson",
        ...(encoding === undefined ? {} : { "content-encoding": encoding }),
      },
    });
  }

  /** The report of an import that is accepted. */
  async function report(
    project: TestProject,
    lines: readonly Line[],
    options: ImportOptions = {},
  ): Promise<Json> {
    const { status, body, text } = await post(project, lines, options);
    expect(status, text).toBe(200);
    expect(body.changed + body.unchanged + body.refused).toBe(body.lines);
    return body;
  }

  /** Paths in the working sets of a project. */
  async function working(project: TestProject): Promise<string[]> {
    const rows = await api.sql<{ path: string }[]>`
      SELECT DISTINCT f.path FROM environment_files w JOIN files f ON f.id = w.file_id
      WHERE w.project_id = ${project.id} ORDER BY 1`;
    return rows.map(({ path }) => path);
  }

  return { post, report, working };
}

/** A request whose body goes on for as long as the test wants. */
export function openUpload(to: TestApi, project: TestProject, as: Caller, query = "") {
  const { writable, readable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const controller = new AbortController();
  const answer = fetch(`${to.url}/projects/${project.slug}/import${query}`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", ...as.headers },
    body: readable,
    signal: controller.signal,
    duplex: "half",
  } as RequestInit);
  answer.catch(() => {});
  return {
    answer,
    write: (text: string) => writer.write(new TextEncoder().encode(text)),
    end: () => writer.close(),
    abort: () => controller.abort(),
  };
}

const NO_FAULTS = { refused: 0, errors: [], truncated: false };

/** The report of an import in which every line changes something, or none does. */
export const allChanged = (lines: number) => ({
  lines,
  changed: lines,
  unchanged: 0,
  ...NO_FAULTS,
});
export const allUnchanged = (lines: number) => ({
  lines,
  changed: 0,
  unchanged: lines,
  ...NO_FAULTS,
});

export const PRODUCTION = { record: "environment", name: "production" };

/** A record of a file in `production`. */
export const file = (path: string, more: object = {}) => ({
  record: "file",
  path,
  environments: ["production"],
  content: `# ${path}`,
  chunks: [{ content: path }],
  ...more,
});
