import { randomUUID } from "node:crypto";
import { addEnvironment, addRelease } from "../../support/accounts.ts";
import { startApi, type TestApi } from "../../support/api/api.ts";
import { CATALOGUE, environment, PERMISSION, SECRET_KEY } from "../../support/api/billing.ts";
import { BillingProvider } from "../../support/api/billing-provider.ts";
import { addInputRequest } from "../../support/api/input-requests.ts";
import {
  attach,
  chunkOf,
  publishTexts,
  randomVector,
  writeVersion,
} from "../../support/api/versions.ts";
import { addBranch, addConversation, addMessages } from "../../support/content.ts";
import { addWebhook } from "../../support/webhooks.ts";

const DIMENSION = 768;
/** Requests that are consumed by the first that succeeds. */
const SPARE = 40;

/** A service with something behind every path. */
export interface Target {
  readonly api: TestApi;
  /**
   * Values of parameters that exist, by name, by name and the segment of the path before it, or by the
   * operation and name.
   */
  readonly places: Readonly<Record<string, readonly string[]>>;
  /** The headers of each kind of caller. */
  readonly callers: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Fields of input requests for which the documented example is an answer. */
async function answeredFields(api: TestApi): Promise<object[]> {
  const { document } = await api.contract();
  const path = "/conversations/{conversation_id}/input-requests/{input_request_id}/responses";
  const { example } = document.paths[path].post.requestBody.content["application/json"];
  return Object.entries(example.values).map(([name, value]) => {
    return { name, type: typeof value === "string" ? "text" : typeof value };
  });
}

async function fill(api: TestApi, owner: Awaited<ReturnType<TestApi["user"]>>) {
  const { sql } = api;
  const project = await api.project(owner);
  const production = await addEnvironment(sql, project);
  const release = await addRelease(sql, project, "v1");
  const chunks = [1, 2, 3].map((seed) => chunkOf(randomVector(DIMENSION, seed)));
  await attach(sql, project, production.id, [await writeVersion(sql, project, "a.md", chunks)]);
  const embedded = await sql<{ id: string }[]>`
    SELECT id FROM chunks WHERE project_id = ${project.id} AND embedding IS NOT NULL`;
  await publishTexts(sql, project, production, { "b.md": "# Guide\n\nsome text", "c.md": "more" });
  const conversation = await addConversation(sql, owner, project);
  const messages = await addMessages(sql, conversation, 3);
  const fields = await answeredFields(api);
  const requests = Array.from({ length: SPARE }, () =>
    addInputRequest(sql, conversation, { fields }),
  );
  const keys = Array.from({ length: SPARE }, () => api.key(owner));
  const webhook = await addWebhook(sql, project);
  return {
    project,
    production,
    release,
    conversation,
    messages,
    webhook,
    branch: await addBranch(sql, project),
    chunks: embedded.map((chunk) => chunk.id),
    requests: await Promise.all(requests),
    keys: await Promise.all(keys),
  };
}

export async function startTarget(): Promise<Target> {
  const provider = new BillingProvider({ secretKey: SECRET_KEY, prices: CATALOGUE });
  const api = await startApi({ env: environment(provider) });
  const owner = await api.user({ permissions: [PERMISSION] });
  const stranger = await api.user();
  const colleague = await api.user();
  const has = await fill(api, owner);
  const key = await api.key(owner);
  const ending = await api.project(owner);
  const { id } = has.webhook;
  const spare = Array.from({ length: SPARE }, (_, i) => `spare-${i}`);
  for (const name of spare) {
    await addEnvironment(api.sql, has.project, name);
    await addRelease(api.sql, has.project, name);
    await addWebhook(api.sql, has.project, { name });
  }
  return {
    api,
    places: {
      project_reference: [has.project.slug, has.project.id],
      "deleteProject project_reference": [ending.slug],
      "deleteEnvironment environmentName": spare,
      "deleteRelease version": spare,
      "deleteWebhook webhook_id": spare,
      confirm: [ending.slug],
      file_reference: ["a.md", "b.md", "new.md"],
      environmentName: [has.production.name],
      version: [has.release.name, has.release.id],
      branchId: [has.branch],
      chunk_id: has.chunks,
      conversation_id: [has.conversation],
      message_id: has.messages,
      input_request_id: has.requests.map((request) => request.id),
      user_id: [colleague.userId],
      webhook_id: [id],
      slug: ["unauthorized", "overloaded"],
      "X-Service-Webhook-Secret": [has.webhook.secret],
      secret: [has.webhook.secret],
      "conversations/{id}": [has.conversation],
      "api-keys/{id}": has.keys.map((each) => each.id),
    },
    callers: {
      owner: owner.headers,
      key: key.headers,
      stranger: stranger.headers,
      nobody: {},
      "a webhook's sender": has.webhook.headers,
      "a key without permissions": (await api.key(owner, { scopes: ["nothing.at.all"] })).headers,
      "a broken token": { authorization: "Bearer a.b.c" },
      "an unknown key": { "x-api-key": `tsr_${"a".repeat(12)}_${"b".repeat(38)}` },
      "a long token": { authorization: `Bearer ${"x".repeat(9_000)}` },
      "another scheme": { authorization: `Basic ${btoa(randomUUID())}` },
      "an empty token": { authorization: "Bearer ", "x-api-key": "" },
    },
  };
}
