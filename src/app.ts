import { Elysia } from "elysia";
import { hasApiKeys } from "./api/api-keys/manage.ts";
import { apiKeyOperations } from "./api/api-keys/routes.ts";
import { auditOperation } from "./api/audit/routes.ts";
import { billingOperations } from "./api/billing/routes.ts";
import { branchOperations } from "./api/branches/routes.ts";
import { chunkOperations } from "./api/chunks/routes.ts";
import { compareOperation } from "./api/compare/routes.ts";
import { conversationOperations } from "./api/conversations/routes.ts";
import { errorOperations } from "./api/errors/routes.ts";
import { fieldsOperation } from "./api/fields/routes.ts";
import { fileOperations } from "./api/files/routes.ts";
import type { WriteThread } from "./api/files/write-thread.ts";
import { importOperations } from "./api/imports/routes.ts";
import { inputRequestOperations } from "./api/input-requests/routes.ts";
import { knowledgeOperations } from "./api/lookup/routes.ts";
import { mcpOperations } from "./api/mcp/routes.ts";
import { memberOperations } from "./api/members/routes.ts";
import { projectOperations } from "./api/projects/routes.ts";
import type { QuestionLog } from "./api/questions/question-log.ts";
import { questionsOperation } from "./api/questions/routes.ts";
import { retrieveOperation } from "./api/retrieve/routes.ts";
import type { ScopeResolver } from "./api/scopes/resolver.ts";
import { searchOperations } from "./api/search/routes.ts";
import { webhookOperations } from "./api/webhooks/routes.ts";
import type { Clearable } from "./auth/open.ts";
import type { Config } from "./config/schema.ts";
import { mountConsole } from "./console/pages.ts";
import type { Coordinator } from "./coordination/coordinator.ts";
import type { Sql } from "./db/client.ts";
import type { QueryEmbedder } from "./embeddings/query-embedder.ts";
import type { Engine } from "./engine/engine.ts";
import type { CursorSigner } from "./http/cursor.ts";
import type { HttpContext } from "./http/incoming.ts";
import { inTurns, sharedResponse, type Turns } from "./http/load/large-answers.ts";
import { openApiDocument } from "./http/openapi/document.ts";
import type { Operation } from "./http/operation.ts";
import { answerProblems, mountOperations, pageMounter } from "./http/router.ts";
import { mountDocs, OPENAPI_PATH } from "./http/static/docs-page.ts";
import { mountStartPage } from "./http/static/start-page.ts";
import type { ProjectEmbedders } from "./import/embedders/project-embedders.ts";
import type { ImportThreads } from "./import/thread/import-threads.ts";
import type { Readiness } from "./observability/readiness.ts";
import { SingleFlight } from "./shared/single-flight.ts";

/** Dependencies of the routes, opened and closed by serve.ts. */
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

function mountProbes(app: Elysia, services: Services, turns: Turns): void {
  const { readiness, metrics } = services;
  const mount = pageMounter(app, turns);
  const { registry } = metrics;
  const checks = new SingleFlight(() => readiness.state());
  const scrapes = new SingleFlight(async () => new TextEncoder().encode(await registry.metrics()));
  app.get("/livez", () => Response.json({ status: "ok" }));
  mount("/readyz", async () => {
    const state = await checks.run();
    return Response.json(state, { status: state.status === "not_ready" ? 503 : 200 });
  });
  app.get("/metrics", async () => {
    const text = await scrapes.run();
    // All who share a scrape have it at once, and each copy of it takes time.
    await turns.start();
    const headers = { "content-type": registry.contentType };
    return inTurns(sharedResponse(text, { headers }), turns);
  });
}

/** The application: probes, documentation, console and every operation. */
export function buildApp(services: Services): Elysia {
  const { config, baseUrl, log } = services;
  const context = { ...services, maxBodyBytes: config.maxBodyBytes };
  const features = operationsOf(services);
  // A call of a tool is one request, which counts once.
  const unlimited = { ...context, rateLimits: undefined };
  const operations = [...features, ...mcpOperations(features, unlimited, config.corsOrigins)];
  const app = new Elysia({ normalize: false });
  answerProblems(app, operations, context);
  // All callers without a credential count as one tenant.
  const turns: Turns = { start: () => services.gates.starts.acquire(""), log };
  const mount = pageMounter(app, turns);
  mountDocs(mount, DOCS_PATH, baseUrl, () => openApiDocument(operations, baseUrl));
  mountConsole(mount, CONSOLE_PATH, baseUrl, () => hasApiKeys(services.sql));
  mountStartPage(mount, baseUrl, {
    ...{ console: CONSOLE_PATH, docs: DOCS_PATH, openapi: OPENAPI_PATH, health: "/readyz" },
  });
  mountProbes(app, services, turns);
  mountOperations(app, operations, context);
  return app;
}
