import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import type { Sql } from "../../src/db/client.ts";
import { loadConfig } from "../../src/ops/config/load.ts";
import type { Config } from "../../src/ops/config/schema.ts";
import { serve } from "../../src/serve.ts";
import { addApiKey, addMember, addProject, addUser, type Project } from "../accounts.ts";
import { onCleanup, startShared } from "../cleanup.ts";
import { dataFolder } from "../processes/embedded.ts";
import { createTestDatabase } from "../processes/postgres.ts";
import { startServer, type TestServer } from "../processes/process.ts";
import { until } from "../until.ts";
import { Contract, type Json } from "./openapi.ts";

/** Signs the JWTs of tests. */
export const JWT_SECRET = "a secret that only the tests know";
/** Longer than any run of tests takes. */
const TOKEN_LIFETIME_SECONDS = 86_400;

/** A caller, with the headers that authenticate it. */
export interface Caller {
  readonly userId: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface TestKey extends Caller {
  readonly id: string;
  readonly key: string;
}

export type TestProject = Project;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if there is none or it is not JSON. */
  readonly body: Json;
}

export interface Sending {
  /** The caller; none by default. */
  readonly as?: Caller;
  /** Sent as application/json. */
  readonly json?: unknown;
  /** Sent unchanged, with the content type of `headers`. */
  readonly body?: string | Uint8Array<ArrayBuffer> | Blob;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiOptions {
  /** Configuration variables that override the defaults; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Further parts of the configuration, of a service in this process. */
  readonly config?: Partial<Config>;
  /** The program that is the service, in a process of its own. */
  readonly program?: readonly string[];
  /** Another service whose database this one shares, instead of a new database. */
  readonly beside?: Pick<TestApi, "sql" | "databaseUrl">;
}

/**
 * A running service. Every response that `send` receives is checked against the OpenAPI document
 * that the service itself serves.
 */
export class TestApi {
  #contract: Promise<Contract> | undefined;

  constructor(
    readonly url: string,
    /** A separate connection pool for the tests. */
    readonly sql: Sql,
    readonly databaseUrl: string,
    /** Stops the service. Runs automatically after the last test. */
    readonly stop: () => Promise<void>,
    /** All that it answers; unknown of a service in a process of its own. */
    readonly routes: Awaited<ReturnType<typeof serve>>["routes"] = [],
  ) {}

  /** The OpenAPI document, against which exchanges are checked. */
  contract(): Promise<Contract> {
    this.#contract ??= fetch(`${this.url}/docs/json`).then(async (response) =>
      contractOf(await response.text()),
    );
    return this.#contract;
  }

  async send(method: string, path: string, sending: Sending = {}): Promise<Answer> {
    const contract = await this.contract();
    const { as, json, body, headers } = sending;
    const response = await fetch(`${this.url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...as?.headers,
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const { status } = response;
    contract.check({ method, path, sent: json, status, headers: response.headers, text });
    const isJson = /[/+]json/.test(response.headers.get("content-type") ?? "") && text !== "";
    return { status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }

  get(path: string, as?: Caller, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("GET", path, { ...(as ? { as } : {}), headers });
  }

  post(path: string, json: unknown, as?: Caller): Promise<Answer> {
    return this.send("POST", path, { ...(as ? { as } : {}), json });
  }

  /** A new user with a row in the database, who calls with a JWT. */
  async user(options: { permissions?: readonly string[]; email?: string } = {}): Promise<Caller> {
    const userId = await addUser(this.sql, options.email);
    return await this.token(userId, { permissions: options.permissions ?? [] });
  }

  /** A caller with a JWT of these claims. The user need not have a row in the database. */
  async token(userId: string = randomUUID(), claims: Record<string, unknown> = {}) {
    const now = Math.floor(Date.now() / 1_000);
    const token = await new SignJWT({ iat: now, exp: now + TOKEN_LIFETIME_SECONDS, ...claims })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject(userId)
      .sign(new TextEncoder().encode(JWT_SECRET));
    return { userId, headers: { authorization: `Bearer ${token}` } } satisfies Caller;
  }

  /** An API key of a user; by default without scopes and for all projects. */
  async key(
    user: Caller,
    options: { scopes?: readonly string[]; project?: TestProject; expiresAt?: Date } = {},
  ): Promise<TestKey> {
    const { id, key } = await addApiKey(this.sql, user.userId, options);
    return { id, key, userId: user.userId, headers: { "x-api-key": key } };
  }

  /** An empty project with this owner. */
  async project(owner: Caller, options: { slug?: string } = {}): Promise<TestProject> {
    return await addProject(this.sql, owner.userId, options.slug);
  }

  /** A new user with an empty project. */
  async ownedProject(options: Parameters<TestApi["user"]>[0] = {}) {
    const owner = await this.user(options);
    return { owner, project: await this.project(owner) };
  }

  /** Puts a Markdown file into the working set `production` of a project. */
  putText(
    as: Caller,
    project: TestProject,
    path: string,
    text: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.send("PUT", `/projects/${project.slug}/files/${encodeURIComponent(path)}`, {
      as,
      body: text,
      headers: { "content-type": "text/markdown", ...headers },
    });
  }

  /** Resolves when searches of a project find all that is committed. */
  async untilIndexed(as: Caller, slug: string): Promise<void> {
    await until(`the project ${slug} is indexed`, async () => {
      const { body } = await this.get(`/projects/${slug}/index-state`, as);
      return body.complete && body.embeddings_waiting === 0;
    });
  }

  async join(user: Caller, project: TestProject, role = "member"): Promise<void> {
    await addMember(this.sql, user.userId, project, role);
  }

  /**
   * Callers without access to the project, with the reason. Each must get exactly the answer for a
   * resource that does not exist. The last key belongs to a member, whose JWT has access.
   */
  async foreigners(project: TestProject): Promise<Array<{ why: string; caller: Caller }>> {
    const stranger = await this.user();
    await this.project(stranger);
    const member = await this.user();
    await this.join(member, project);
    const other = await this.project(member);
    return [
      { why: "a user who is not a member", caller: stranger },
      { why: "an API key of a user who is not a member", caller: await this.key(stranger) },
      {
        why: "a member's API key that is bound to another project",
        caller: await this.key(member, { project: other }),
      },
    ];
  }

  /** A member of the project whose key lacks the permission that any operation needs. */
  async unpermitted(project: TestProject): Promise<Caller> {
    const member = await this.user();
    await this.join(member, project);
    return await this.key(member, { scopes: ["nothing.at.all"] });
  }
}

const contracts = new Map<string, Contract>();

/** Services whose documents differ only in the port share one contract, because compiling it is slow. */
function contractOf(text: string): Contract {
  const key = text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "");
  const contract = contracts.get(key) ?? new Contract(JSON.parse(text));
  contracts.set(key, contract);
  return contract;
}

/** Variable in which `npm run test:engine` names the search engine under test. */
export const ENGINE_VARIABLE = "TESSERA_TEST_ENGINE";

function variables(options: ApiOptions, databaseUrl: string) {
  return {
    ...(process.env[ENGINE_VARIABLE] === "pgvector" && { VECTOR_DATABASE_URL: databaseUrl }),
    // Each worker that starts takes a tenth of a second of processor time.
    SEARCH_WORKERS: "1",
    PORT: "0",
    HOST: "127.0.0.1",
    DEMO: "off",
    LOG_LEVEL: "warn",
    JWT_SECRET,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataFolder(),
    ...options.env,
  };
}

async function databaseOf({ beside }: ApiOptions): Promise<{ sql: Sql; url: string }> {
  if (beside !== undefined) return { sql: beside.sql, url: beside.databaseUrl };
  return await createTestDatabase();
}

/** Starts the real application in this process, on a free port and a new database. */
export async function startApi(options: ApiOptions = {}): Promise<TestApi> {
  const database = await databaseOf(options);
  const server = await serve({
    ...loadConfig(variables(options, database.url)),
    ...options.config,
  });
  const stop = onCleanup(() => server.stop());
  return new TestApi(server.url, database.sql, database.url, stop, server.routes);
}

let shared: Promise<TestApi> | undefined;

/**
 * A service with the default settings, which all tests of a process share, because a start costs more than
 * most of their requests. Each test has users and projects of its own.
 */
export function sharedApi(): Promise<TestApi> {
  shared ??= startShared(() => startApi({ env: { SEARCH_WORKERS: undefined } }));
  return shared;
}

/** Starts the real application in a separate process, which can be killed. */
export async function startApiProcess(
  options: ApiOptions = {},
): Promise<TestApi & { readonly server: TestServer }> {
  const database = await databaseOf(options);
  const server = await startServer({
    env: variables(options, database.url),
    ...(options.program !== undefined && { program: options.program }),
  });
  const api = new TestApi(server.url, database.sql, database.url, server.stop);
  return Object.assign(api, { server });
}

/** A problem without its request id, to compare the answers of two requests. */
export function withoutRequestId(answer: Answer): Json {
  return { ...answer.body, instance: undefined };
}
