import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import examples from "@octokit/webhooks-examples";
import { sharedApi } from "../../support/api/api.ts";
import { addWebhook, storedRows } from "../../support/webhooks.ts";

const api = await sharedApi();
const { sql } = api;
const project = await api.project(await api.user());

/** Sends a delivery as a provider does: the secret in the query, and the provider's headers. */
async function send(path: string, headers: Record<string, string>, body: string) {
  return await api.send("POST", path, { headers, body });
}

function github(event: string, type: string, delivery: string) {
  return {
    "content-type": type,
    "user-agent": "GitHub-Hookshot/044aadd",
    "X-GitHub-Delivery": delivery,
    "X-GitHub-Event": event,
    "X-GitHub-Hook-ID": "292430182",
    "X-Hub-Signature-256": `sha256=${"0".repeat(64)}`,
  };
}

describe("GitHub", () => {
  const events = examples.map(({ name, examples: [payload] }) => ({ name, payload }));

  test(`each of ${events.length} GitHub events is stored once, whether sent as JSON or as a form`, async () => {
    const webhook = await addWebhook(sql, project);
    const path = `${webhook.path}?secret=${webhook.secret}`;
    for (const { name, payload } of events) {
      const body = JSON.stringify(payload);
      const delivery = randomUUID();
      const asJson = await send(path, github(name, "application/json", delivery), body);
      expect([name, asJson.status, asJson.body.duplicate]).toEqual([name, 200, false]);
      expect(asJson.body.payload).toEqual(payload);
      const form = new URLSearchParams({ payload: body }).toString();
      const headers = github(name, "application/x-www-form-urlencoded", delivery);
      const redelivered = await send(path, headers, form);
      expect(redelivered.body).toEqual({ ...asJson.body, duplicate: true });
    }
    const count = events.length;
    expect(await storedRows(sql, webhook)).toEqual({
      ...{ events: count, messages: count, runs: count, keys: count },
    });
  });
});
