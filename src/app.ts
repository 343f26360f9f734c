import { Elysia } from "elysia";
import { apiKeyOperations } from "./api/api-keys.ts";
import { auditOperation } from "./api/audit.ts";
import { billingOperations } from "./api/billing.ts";
import { branchOperations } from "./api/branches.ts";
import { chunkOperations } from "./api/chunks.ts";
import { compareOperation } from "./api/compare.ts";
import { conversationOperations } from "./api/conversations.ts";
import { errorOperations } from "./api/errors.ts";
import { fieldsOperation } from "./api/fields.ts";
import { fileOperations } from "./api/files.ts";
import { importOperations } from "./api/imports.ts";
import { inputRequestOperations } from "./api/input-requests.ts";
import { knowledgeOperations } from "./api/lookup.ts";
import { mcpOperations } from "./api/mcp/routes.ts";
import { memberOperations } from "./api/members.ts";
import { projectOperations } from "./api/projects.ts";
import { questionsOperation } from "./api/questions.ts";
import { retrieveOperation } from "./api/retrieve.ts";
import { searchOperations } from "./api/search.ts";
import { webhookOperations } from "./api/webhooks.ts";
import type { Clearable } from "./auth/open.ts";
import { mountConsole } from "./console/pages.ts";
import type { QueryEmbedder } from "./content/embeddings/query-embedder.ts";
import type { WriteThread } from "./content/files/write-thread.ts";
import type { ImportThreads } from "./content/import/thread/import-threads.ts";
import type { ScopeResolver } from "./content/scopes/resolver.ts";
import type { Sql } from "./db/client.ts";
import type { Coordinator } from "./db/coordination/coordinator.ts";
import { VERSION } from "./domain/version.ts";
import type { ProjectEmbedders } from "./embed/embedders/project-embedders.ts";
import type { Engine } from "./engine/engine.ts";
import type { CursorSigner } from "./http/cursor.ts";
import { sharedResponse } from "./http/load/large-answers.ts";
import { openApiDocument } from "./http/openapi/document.ts";
import type { Operation } from "./http/operation.ts";
import type { HttpContext } from "./http/pipeline.ts";
import { basePathOf, prefersHtml } from "./http/request.ts";
import {
  answerProblems,
  type MountPage,
  mountOperations,
  pageMounter,
  probeMounter,
} from "./http/router.ts";
import { mountDocs, OPENAPI_PATH } from "./http/static/docs-page.ts";
import type { Config } from "./ops/config/schema.ts";
import type { Readiness } from "./ops/observability/readiness.ts";
import { SingleFlight } from "./ops/single-flight.ts";
import { hasApiKeys } from "./platform/api-keys/manage.ts";
import type { QuestionLog } from "./query/questions/question-log.ts";

/** Dependencies of the routes, opened by services.ts. */
export interface Services extends Omit<HttpContext, "maxBodyBytes"> {
  readonly config: Config;
  readonly sql: Sql;
  readonly readiness: Readiness;
  readonly questions: QuestionLog;
  readonly coordinator: Coordinator;
  /** Registers a cache to clear whenever access rights change. */
  clearOnAccessChange(cache: Clearable): void;
  readonly engine: Engine;
  readonly embedders: ProjectEmbedders;
  readonly queries: QueryEmbedder;
  readonly scopes: ScopeResolver;
  readonly cursors: CursorSigner;
  readonly imports: ImportThreads;
  readonly writes: WriteThread;
  /** Keeps the connection of a running request open while nothing is sent or received. */
  disableIdleTimeout(request: Request): void;
}

const DOCS_PATH = "/docs";
const CONSOLE_PATH = "/console";

/** Every operation of the API, feature by feature, in the order of its document. */
function operationsOf(services: Services): Operation[] {
  return [
    retrieveOperation(services),
    ...searchOperations(services),
    fieldsOperation(services),
    ...apiKeyOperations(services),
    ...projectOperations(services),
    questionsOperation(services),
    ...memberOperations(services),
    auditOperation(services),
    ...fileOperations(services),
    compareOperation(services),
    ...importOperations(services),
    ...knowledgeOperations(services),
    ...chunkOperations(services),
    ...branchOperations(services),
    ...conversationOperations(services),
    ...inputRequestOperations(services),
    ...webhookOperations(services),
    ...billingOperations(services),
    ...errorOperations(services),
  ];
}

function mountProbes(app: Elysia, services: Services, context: HttpContext): void {
  const { readiness, metrics, gates } = services;
  const mount = pageMounter(app, context);
  const { registry } = metrics;
  const checks = new SingleFlight(() => readiness.state());
  const scrapes = new SingleFlight(async () => new TextEncoder().encode(await registry.metrics()));
  probeMounter(app, context)("/livez", () => Response.json({ status: "ok" }));
  mount("/readyz", async () => {
    const state = await checks.run();
    return Response.json(state, { status: state.status === "not_ready" ? 503 : 200 });
  });
  mount("/metrics", async () => {
    const text = await scrapes.run();
    // All who share a scrape have it at once, and each copy of it takes time.
    await gates.starts.acquire("");
    return sharedResponse(text, { headers: { "content-type": registry.contentType } });
  });
}

/**
 * Serves `/`: browsers are sent to the console, other callers get the addresses of the pages that need no
 * credential. The addresses begin with the path of `baseUrl`, but have no host: there may be several.
 */
function mountStartPage(mount: MountPage, baseUrl: string): void {
  const base = basePathOf(baseUrl);
  const links = {
    name: "Tessera",
    version: VERSION,
    console: base + CONSOLE_PATH,
    docs: base + DOCS_PATH,
    openapi: base + OPENAPI_PATH,
    health: `${base}/readyz`,
  };
  mount("/", (request) =>
    prefersHtml(request.headers)
      ? new Response(null, { status: 302, headers: { location: links.console, vary: "Accept" } })
      : Response.json(links, { headers: { vary: "Accept" } }),
  );
}

/** The application: probes, documentation, console and every operation. */
export function buildApp(services: Services): Elysia {
  const { config, baseUrl } = services;
  const context = { ...services, maxBodyBytes: config.maxBodyBytes };
  const features = operationsOf(services);
  // A call of a tool is one request, which counts once.
  const unlimited = { ...context, rateLimits: undefined };
  const operations = [...features, ...mcpOperations(features, unlimited, config.corsOrigins)];
  const app = new Elysia({ normalize: false });
  answerProblems(app, context);
  const mount = pageMounter(app, context);
  mountDocs(mount, DOCS_PATH, baseUrl, () => openApiDocument(operations, baseUrl));
  mountConsole(mount, CONSOLE_PATH, baseUrl, () => hasApiKeys(services.sql));
  mountStartPage(mount, baseUrl);
  mountProbes(app, services, context);
  mountOperations(app, operations, context);
  return app;
}
