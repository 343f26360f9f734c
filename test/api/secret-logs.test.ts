import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { startApiProcess } from "../../support/api/api.ts";
import { environment, PRO, SECRET_KEY, sharedBilling } from "../../support/api/billing.ts";
import type { Reaction } from "../../support/api/billing-provider.ts";
import { addWebhook } from "../../support/webhooks.ts";

const { api, provider, payer, upgrade } = await sharedBilling();
const { sql } = api;
const env = { ...environment(provider), LOG_LEVEL: "trace" };
const watched = await startApiProcess({ env, beside: api });

/** Deliveries by a secret that is in no stored row, of which some are refused or fail. */
async function deliverBySecret(): Promise<string> {
  const secret = `never-to-be-seen-${randomUUID()}`;
  const project = await api.project(await api.user());
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
  const [row] =
    await sql`SELECT d::text AS text FROM webhook_definitions d WHERE id = ${webhook.id}`;
  expect(row?.text).not.toContain(secret);
  return secret;
}

test("the secrets of a webhook and of the payment provider appear in no response and no log line", async () => {
  const secret = await deliverBySecret();
  const say = (status: number, text = ""): Reaction => {
    return ({ headers }) => {
      const key = headers.get("authorization") ?? "";
      const error = { type: "invalid_request_error", code: key, param: key };
      return Response.json(
        { error: { ...error, message: `${text} ${key}` } },
        { status, headers: { "request-id": key, "stripe-notice": key, "x-key": key } },
      );
    };
  };
  const answers = [await upgrade(PRO, await payer(), {}, watched)];
  for (const status of [400, 401, 402, 403, 404, 409, 429]) {
    const times = status === 409 ? 3 : 1;
    provider.react(...Array.from({ length: times }, () => say(status, `status ${status}`)));
    answers.push(await upgrade(PRO, await payer(), {}, watched));
  }
  provider.react(say(500), say(502), say(503));
  answers.push(await upgrade(PRO, await payer(), {}, watched));
  provider.react(({ headers }) => new Response(headers.get("authorization")));
  answers.push(await upgrade(PRO, await payer(), {}, watched));
  await watched.server.stop();

  const logs = watched.server.logs();
  for (const noted of ["refuse", "billing-provider-error", "status 402"]) {
    expect(logs).toContain(noted);
  }
  for (const hidden of [secret, SECRET_KEY]) expect(logs).not.toContain(hidden);
  for (const { text } of answers) expect(text).not.toContain(SECRET_KEY);
});
