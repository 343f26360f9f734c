import { type Static, Type } from "@sinclair/typebox";
import { actorOf } from "../auth/audit/actor.ts";
import type { AuditLog } from "../auth/audit/audit-log.ts";
import { findWritableProject } from "../auth/project-access.ts";
import { targetOf } from "../content/import/records/target.ts";
import type { ImportThreads } from "../content/import/thread/import-threads.ts";
import type { ImportJob, ImportReport } from "../content/import/thread/messages.ts";
import { readUpload, tooLarge } from "../content/import/upload.ts";
import type { Sql } from "../db/client.ts";
import { IMPORT_REPORT_ERRORS_MAX, IMPORTS_MAX } from "../domain/limits.ts";
import { count, described, flag, listOf, ProjectParams, text } from "../domain/schemas.ts";
import { ignoredFieldsHeader, ignoring } from "../http/answer-headers.ts";
import { otherType } from "../http/json-body.ts";
import { encodingOf } from "../http/load/body.ts";
import { type Operation, operation } from "../http/operation.ts";
import { mediaType } from "../http/request.ts";
import { json, toProblem } from "../http/respond.ts";
import { FairSemaphore } from "../ops/tenants/fair-semaphore.ts";

const ImportQuery = Type.Object({
  strict: Type.Optional(
    Type.Union([Type.Literal("true"), Type.Literal("false")], {
      description: "True to keep nothing if a single line is refused. Default: false.",
      documentedAs: Type.Boolean({ default: false }),
      examples: [true],
    }),
  ),
});

const ImportBody = text(
  "One record per line, as `tessera import` reads them. `project` may be absent. Records of other " +
    "projects and of the kinds `user` and `api_key` are refused.",
);

const Line = Type.Integer({ minimum: 1, description: "The line, counted from 1." });

const ImportResult = described("ImportResult", "The result of an import.", {
  lines: count("Lines that were read, without blank ones."),
  changed: count("Lines that have changed the project."),
  unchanged: count("Lines whose records were stored already, or that a strict import undid."),
  refused: count("Lines that were refused."),
  errors: listOf(
    described("ImportError", "A refused line.", {
      line: Line,
      message: text("Why it was refused."),
    }),
    `The first ${IMPORT_REPORT_ERRORS_MAX} refused lines.`,
  ),
  truncated: flag("True when more lines were refused than are listed."),
  warnings: Type.Optional(
    listOf(
      described("ImportWarning", "A line, or the first of several alike.", {
        line: Line,
        message: text("The possible fault of the record."),
      }),
      "Stored content that may not be as meant, such as frontmatter that cannot be read and is " +
        `text; of at most ${IMPORT_REPORT_ERRORS_MAX} files. Absent without any.`,
    ),
  ),
});
type ImportResult = Static<typeof ImportResult>;

const NDJSON_TYPE = "application/x-ndjson";

const EXAMPLE_BODY = `{"record":"environment","name":"production"}
{"record":"file","path":"guide.md","environments":["production"],"content":"# Guide"}
`;
const EXAMPLE: ImportResult = {
  lines: 3,
  changed: 1,
  unchanged: 1,
  refused: 1,
  errors: [{ line: 3, message: 'record: "user" cannot be imported into a project' }],
  truncated: false,
};

const DESCRIPTION =
  "Reads records while they arrive, and answers when all are stored. Refused lines stop nothing " +
  "else. Repeating an import changes nothing. An upload that breaks off changes no environment " +
  "and no release; repeating it completes it. The caller needs the role `owner` or `editor`; " +
  "only owners import the record of the project itself.";

const PROBLEMS = [
  "validation-failed",
  "permission-denied",
  "project-not-found",
  "quota-exceeded",
] as const;

interface ImportServices {
  readonly sql: Sql;
  readonly imports: ImportThreads;
  readonly audit: AuditLog;
  readonly config: { readonly importMaxBytes: number };
  /** Disables the idle timeout of the connection until the request ends. */
  readonly disableIdleTimeout: (request: Request) => void;
}

function requireAllowedLength(request: Request, maxBytes: number): void {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

async function* noBody(): AsyncGenerator<Uint8Array> {}

/** The members of an import in the log line of a slow request. */
function countsOf({ lines, changed, unchanged, refused }: ImportReport) {
  return { lines, changed, unchanged, refused };
}

function answerOf({ ignored, ...result }: ImportReport): Response {
  return json(result, 200, ignoring(ignored));
}

/** POST /projects/{project_reference}/import. */
export function importOperations(services: ImportServices): Operation[] {
  const { sql, imports, audit, disableIdleTimeout } = services;
  const { importMaxBytes: maxBytes } = services.config;
  /** Imports are few and long, so callers take turns. */
  const permits = new FairSemaphore({ permits: IMPORTS_MAX });

  /** Imports the body. An import that fails is noted in the audit log here, and any other with its records. */
  async function importBody(request: Request, job: ImportJob): Promise<ImportReport> {
    const { body, signal } = request;
    const { actor, target, strict } = job;
    disableIdleTimeout(request);
    try {
      const upload = body === null ? noBody() : readUpload(body, { maxBytes });
      return await imports.run(job, upload, signal);
    } catch (error) {
      const { slug: failed } = toProblem(error);
      await audit.importFailed(actor, target.id, { strict, failed });
      throw error;
    }
  }

  return [
    operation({
      id: "importRecords",
      method: "POST",
      path: "/projects/{project_reference}/import",
      tag: "Import",
      summary: "Import records into a project",
      description: DESCRIPTION,
      extension: true,
      permission: "projects.import",
      params: ProjectParams,
      query: ImportQuery,
      bodies: { [NDJSON_TYPE]: { schema: ImportBody, example: EXAMPLE_BODY } },
      streams: true,
      response: ImportResult,
      responseExample: EXAMPLE,
      responseHeaders: ignoredFieldsHeader,
      problems: PROBLEMS,
      async handle({ request, requestId, params, query, principal, note }) {
        const project = await findWritableProject(sql, principal, params.project_reference);
        if (mediaType(request) !== NDJSON_TYPE) throw otherType([NDJSON_TYPE]);
        const encoding = encodingOf(request);
        requireAllowedLength(request, maxBytes);
        const target = targetOf(project);
        const actor = actorOf(principal, requestId);
        const strict = query.strict === "true";
        const job = { actor, target, encoding, strict, atOnce: project.limited, maxBytes };
        const report = await permits.run(principal.userId, () => importBody(request, job));
        note(() => countsOf(report));
        return answerOf(report);
      },
    }),
  ];
}
