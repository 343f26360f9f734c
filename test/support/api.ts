import { randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { loadConfig } from "../../src/config/load.ts";
import type { Sql } from "../../src/db/client.ts";
import { serve } from "../../src/serve.ts";
import { addApiKey, addMember, addProject, addUser, type Project } from "../../support/accounts.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { dataFolder } from "../../support/embedded.ts";
import { createTestDatabase } from "../../support/postgres.ts";
import { startServer, type TestServer } from "../../support/process.ts";
import { Contract, type Json } from "./openapi.ts";

/** The secret with which test tokens are signed. */
export const JWT_SECRET = "a secret that only the tests know";
const TOKEN_LIFETIME_SECONDS = 600;

/** Somebody who calls, with the headers that say who it is. */
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
  /** The parsed body; undefined when there is none or it is no JSON. */
  readonly body: Json;
}

export interface Sending {
  /** Who calls; nobody when left out. */
  readonly as?: Caller;
  /** Sent as application/json. */
  readonly json?: unknown;
  /** Sent as it is, with the content type of `headers`. */
  readonly body?: string | Uint8Array<ArrayBuffer> | Blob;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiOptions {
  /** Variables of the configuration over the defaults; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Another service whose database this one shares instead of having its own. */
  readonly beside?: TestApi;
}

/**
 * A running service on a database of its own. Every answer that passes through `send` is checked
 * against the OpenAPI document that the service itself serves.
 */
export class TestApi {
  #contract: Promise<Contract> | undefined;

  constructor(
    readonly url: string,
    /** A pool of the tests' own. */
    readonly sql: Sql,
    readonly databaseUrl: string,
    /** Stops the service. Happens by itself after the last test. */
    readonly stop: () => Promise<void>,
  ) {}

  /** The OpenAPI document, and the check of exchanges against it. */
  contract(): Promise<Contract> {
    this.#contract ??= fetch(`${this.url}/docs/json`).then(
      async (response) => new Contract(await response.json()),
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

  /** A user with a row of its own, calling by token. */
  async user(options: { permissions?: readonly string[]; email?: string } = {}): Promise<Caller> {
    const userId = await addUser(this.sql, options.email);
    return await this.token(userId, { permissions: options.permissions ?? [] });
  }

  /** A caller with a token of these claims; the user need not be known. */
  async token(userId: string = randomUUID(), claims: Record<string, unknown> = {}) {
    const now = Math.floor(Date.now() / 1_000);
    const token = await new SignJWT({ iat: now, exp: now + TOKEN_LIFETIME_SECONDS, ...claims })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject(userId)
      .sign(new TextEncoder().encode(JWT_SECRET));
    return { userId, headers: { authorization: `Bearer ${token}` } } satisfies Caller;
  }

  /** An API key of a user: unscoped and for all projects where nothing else is asked. */
  async key(
    user: Caller,
    options: { scopes?: readonly string[]; project?: TestProject; expiresAt?: Date } = {},
  ): Promise<TestKey> {
    const { id, key } = await addApiKey(this.sql, user.userId, options);
    return { id, key, userId: user.userId, headers: { "x-api-key": key } };
  }

  /** A project with this owner, and nothing in it. */
  async project(owner: Caller, options: { slug?: string } = {}): Promise<TestProject> {
    return await addProject(this.sql, owner.userId, options.slug);
  }

  async join(user: Caller, project: TestProject, role = "member"): Promise<void> {
    await addMember(this.sql, user.userId, project, role);
  }

  /**
   * Callers for whom the project does not exist, by the reason: each must be answered exactly as
   * if the resource were made up. The keys belong to a member, whose token does reach it.
   */
  async foreigners(project: TestProject): Promise<Array<{ why: string; caller: Caller }>> {
    const stranger = await this.user();
    await this.project(stranger);
    const member = await this.user();
    await this.join(member, project);
    const other = await this.project(member);
    return [
      { why: "a user who is no member", caller: stranger },
      { why: "an API key of a user who is no member", caller: await this.key(stranger) },
      {
        why: "a member's API key that is bound to another project",
        caller: await this.key(member, { project: other }),
      },
    ];
  }

  /** A member of the project whose key holds another permission than the one needed. */
  async unpermitted(project: TestProject): Promise<Caller> {
    const member = await this.user();
    await this.join(member, project);
    return await this.key(member, { scopes: ["nothing.at.all"] });
  }
}

function variables(options: ApiOptions, databaseUrl: string) {
  return {
    PORT: "0",
    HOST: "127.0.0.1",
    DEMO: "off",
    LOG_LEVEL: "fatal",
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

/** Starts the real application in this process, on a free port and an own database. */
export async function startApi(options: ApiOptions = {}): Promise<TestApi> {
  const database = await databaseOf(options);
  const server = await serve(loadConfig(variables(options, database.url)));
  const stop = onCleanup(() => server.stop());
  return new TestApi(server.url, database.sql, database.url, stop);
}

/** Starts the real application as a process of its own, which can be killed. */
export async function startApiProcess(
  options: ApiOptions = {},
): Promise<TestApi & { readonly server: TestServer }> {
  const database = await databaseOf(options);
  const server = await startServer({ env: variables(options, database.url) });
  const api = new TestApi(server.url, database.sql, database.url, server.stop);
  return Object.assign(api, { server });
}

/** What a problem says about the resource; the same for a foreign and for a made-up one. */
export function withoutRequestId(answer: Answer): Json {
  return { ...answer.body, instance: undefined };
}
