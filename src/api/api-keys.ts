import type { Sql } from "../db/client.ts";
import { onlyPage } from "../domain/page-info.ts";
import { type Operation, operation } from "../http/operation.ts";
import { type ListServices, PageQuery } from "../http/pages.ts";
import { json } from "../http/respond.ts";
import {
  ApiKey,
  ApiKeyPage,
  ApiKeyParams,
  CreatedApiKey,
  NewApiKey,
} from "../platform/api-keys/schema.ts";
import {
  createApiKey,
  deleteApiKey,
  getApiKey,
  listApiKeys,
} from "../platform/api-keys/service.ts";

const CREATED_EXAMPLE: CreatedApiKey = {
  id: "e4c2a6b8-d1f0-4e2c-8a6b-9d7f2d4b6f8a",
  project_id: "ef10a346-3a8f-59f6-bafe-66a103e868f8",
  user_id: "3b2a1c0d-9e8f-4a7b-8c6d-5e4f3a2b1c0d",
  name: "Handbook search",
  key: "tsr_<prefix>_<secret>",
  key_prefix: "tsr_<prefix>",
  expires_at: "2096-01-01T00:00:00.000Z",
  created_at: "2026-01-05T09:30:00.000Z",
  scopes: ["search.query", "knowledge.lookup"],
};
const READ_EXAMPLE: ApiKey = {
  id: CREATED_EXAMPLE.id,
  project_id: null,
  user_id: CREATED_EXAMPLE.user_id,
  name: CREATED_EXAMPLE.name,
  key_prefix: CREATED_EXAMPLE.key_prefix,
  last_used_at: "2026-01-06T12:00:00.000Z",
  expires_at: null,
  created_at: CREATED_EXAMPLE.created_at,
  updated_at: CREATED_EXAMPLE.created_at,
  scopes: CREATED_EXAMPLE.scopes,
};

const PAGE_EXAMPLE: ApiKeyPage = {
  data: [READ_EXAMPLE],
  page_info: onlyPage("/api-keys"),
};

/** Operations that create, list, read and revoke API keys. */
export function apiKeyOperations(services: ListServices): Operation[] {
  const { sql } = services;
  return [createOperation(sql), listOperation(services), readOperation(sql), revokeOperation(sql)];
}

function createOperation(sql: Sql): Operation {
  return operation({
    id: "createApiKey",
    method: "POST",
    path: "/api-keys",
    tag: "API keys",
    summary: "Create an API key",
    description:
      "The key acts as its creator and never has more rights than the credential in use. A key " +
      "that is limited in scopes, project or expiry creates only keys with the same or " +
      "narrower limits.",
    permission: "api_keys.create",
    body: NewApiKey,
    bodyExample: {
      name: CREATED_EXAMPLE.name,
      project_id: CREATED_EXAMPLE.project_id,
      scopes: CREATED_EXAMPLE.scopes,
    },
    status: 201,
    response: CreatedApiKey,
    responseExample: CREATED_EXAMPLE,
    responseHeaders: {
      Location: { description: "The path of the key, which returns it without its secret." },
    },
    problems: ["permission-denied", "project-not-found"],
    async handle({ principal, requestId, basePath, body }) {
      const created = await createApiKey(sql, principal, requestId, body);
      return json(created, 201, { location: `${basePath}/api-keys/${created.id}` });
    },
  });
}

function listOperation(services: ListServices): Operation {
  return operation({
    id: "listApiKeys",
    method: "GET",
    path: "/api-keys",
    tag: "API keys",
    summary: "List API keys",
    description:
      "The caller's keys that are not revoked, without their secrets, in order of name. A key " +
      "bound to a project lists only keys of that project.",
    extension: true,
    permission: "api_keys.read",
    query: PageQuery,
    response: ApiKeyPage,
    responseExample: PAGE_EXAMPLE,
    problems: ["invalid-cursor"],
    handle: (call) => listApiKeys(services, call),
  });
}

function readOperation(sql: Sql): Operation {
  return operation({
    id: "getApiKey",
    method: "GET",
    path: "/api-keys/{id}",
    tag: "API keys",
    summary: "Read an API key",
    description:
      "Users read their own keys that are not revoked. A key bound to a project reads only keys of " +
      "that project.",
    permission: "api_keys.read",
    params: ApiKeyParams,
    response: ApiKey,
    responseExample: READ_EXAMPLE,
    problems: ["validation-failed", "api-key-not-found"],
    handle: ({ params, principal }) => getApiKey(sql, principal, params.id),
  });
}

function revokeOperation(sql: Sql): Operation {
  return operation({
    id: "revokeApiKey",
    method: "DELETE",
    path: "/api-keys/{id}",
    tag: "API keys",
    summary: "Revoke an API key",
    description:
      "Users revoke their own keys, and owners of a project those that are bound to it. The key " +
      "stops working within a second, and GET returns 404. Revoking it again " +
      "changes nothing and succeeds. A key bound to a project revokes only keys of that project.",
    extension: true,
    permission: "api_keys.revoke",
    params: ApiKeyParams,
    status: 204,
    changesAccess: true,
    problems: ["validation-failed", "api-key-not-found"],
    handle: ({ params, principal, requestId }) =>
      deleteApiKey(sql, principal, requestId, params.id),
  });
}
