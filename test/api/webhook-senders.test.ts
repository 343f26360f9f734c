import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import examples from "@octokit/webhooks-examples";
import { sharedApi, startApiProcess } from "../../support/api/api.ts";
import { addWebhook, storedRows } from "../../support/webhooks.ts";

const api = await sharedApi();
const { sql } = api;
const project = await api.project(await api.user());

/** Sends a delivery as a provider does: the secret in the query, and the provider's headers. */
async function send(path: string, headers: Record<string, string>, body: string) {
  return await api.send("POST", path, { headers, body });
}

/** GitLab's push event, shortened to one commit, with the fields of its documentation. */
const GITLAB_PUSH = {
  object_kind: "push",
  event_name: "push",
  before: "95790bf891e76fee5e1747ab589903a6a1f80f22",
  after: "da1560886d4f094c3e6c9ef40349f7d38b5d27d7",
  ref: "refs/heads/master",
  ref_protected: true,
  checkout_sha: "da1560886d4f094c3e6c9ef40349f7d38b5d27d7",
  message: null,
  user_id: 4,
  user_name: "John Smith",
  user_username: "jsmith",
  project_id: 15,
  project: { id: 15, name: "Diaspora", path_with_namespace: "mike/diaspora", visibility_level: 0 },
  commits: [
    {
      id: "da1560886d4f094c3e6c9ef40349f7d38b5d27d7",
      message: "fixed readme\n\nSee merge request !7 \u2014 \u00e4\u00f6\u00fc \ud83d\ude80",
      timestamp: "2012-01-03T23:36:29+02:00",
      author: { name: "GitLab dev user", email: "gitlabdev@dv6700.(none)" },
      added: ["CHANGELOG"],
      modified: ["app/controller/application.rb"],
      removed: [],
    },
  ],
  total_commits_count: 1,
};

/** Bitbucket Cloud's push event, as its documentation shows it. */
const BITBUCKET_PUSH = {
  actor: { type: "user", display_name: "Emma", uuid: "{d301aafa-d676-4ee0-88be-962be7417567}" },
  repository: { type: "repository", full_name: "emma/repo", scm: "git", is_private: true },
  push: {
    changes: [
      {
        old: {
          type: "branch",
          name: "main",
          target: { type: "commit", hash: "1e65c05c1d5171631d92" },
        },
        new: {
          type: "branch",
          name: "main",
          target: { type: "commit", hash: "709d658dc5b6d6afcd46" },
        },
        created: false,
        closed: false,
        forced: false,
        truncated: false,
      },
    ],
  },
};

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

describe("GitLab and Bitbucket", () => {
  const senders = {
    GitLab: {
      payload: GITLAB_PUSH,
      headers: {
        "X-Gitlab-Event": "Push Hook",
        "X-Gitlab-Instance": "https://gitlab.com",
        "X-Gitlab-Webhook-UUID": randomUUID(),
      },
      key: "X-Gitlab-Event-UUID",
    },
    Bitbucket: {
      payload: BITBUCKET_PUSH,
      headers: { "X-Event-Key": "repo:push", "X-Hook-UUID": randomUUID(), "X-Attempt-Number": "1" },
      key: "X-Request-UUID",
    },
  };
  for (const [sender, { payload, headers, key }] of Object.entries(senders)) {
    test(`a delivery that ${sender} retries is stored once`, async () => {
      const webhook = await addWebhook(sql, project);
      const path = `${webhook.path}?secret=${encodeURIComponent(webhook.secret)}`;
      const all = { "content-type": "application/json", ...headers, [key]: randomUUID() };
      const first = await send(path, all, JSON.stringify(payload));
      expect([first.status, first.body.duplicate]).toEqual([200, false]);
      expect(first.body.payload).toEqual(payload);
      const again = await send(path, { ...all, "X-Attempt-Number": "2" }, JSON.stringify(payload));
      expect(again.body).toEqual({ ...first.body, duplicate: true });
      const next = await send(path, { ...all, [key]: randomUUID() }, JSON.stringify(payload));
      expect(next.body.webhook_event_id).not.toBe(first.body.webhook_event_id);
      expect(await storedRows(sql, webhook)).toMatchObject({ events: 2, keys: 2 });
    });
  }
});

test("a webhook secret appears in no log line and not in the database", async () => {
  const watched = await startApiProcess({ beside: api, env: { LOG_LEVEL: "trace" } });
  const secret = `never-to-be-seen-${randomUUID()}`;
  const webhook = await addWebhook(sql, project, { secret });
  const path = `${webhook.path}?secret=${secret}`;
  const key = { "idempotency-key": "k" };
  await watched.send("POST", path, { json: 1, headers: key });
  await watched.send("POST", path, { json: 2, headers: key });
  await watched.send("POST", path, { headers: { "content-type": "application/json" }, body: "{" });
  await watched.send("POST", webhook.path, {
    headers: { "x-service-webhook-secret": `${secret}!` },
  });
  // Failures are logged with their cause, which must not include the request.
  await sql`ALTER TABLE runs ADD CONSTRAINT refuse CHECK (false) NOT VALID`;
  expect((await watched.send("POST", path, { json: 3 })).status).toBe(500);
  await sql`ALTER TABLE runs DROP CONSTRAINT refuse`;
  await watched.server.stop();
  expect(watched.server.logs()).toContain("refuse");
  expect(watched.server.logs()).not.toContain(secret);
  const [row] =
    await sql`SELECT d::text AS text FROM webhook_definitions d WHERE id = ${webhook.id}`;
  expect(row?.text).not.toContain(secret);
});
