import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { addConversation } from "../../support/content.ts";
import { startApi } from "../support/api.ts";
import { hidesFromForeigners, needsPermission, refusesBadCredentials } from "../support/guards.ts";
import { addInputRequest, FIELDS, type TestInputRequest } from "../support/input-requests.ts";

const api = await startApi();
const { sql } = api;
const member = await api.user();
const project = await api.project(member);
const conversation = await addConversation(sql, member, project);
const { path } = await addInputRequest(sql, conversation);
const valid = { values: { note: "yes" } };

const ask = (options?: Parameters<typeof addInputRequest>[2]) =>
  addInputRequest(sql, conversation, options);
const answer = (to: TestInputRequest, values: unknown) => api.post(to.path, { values }, member);

async function storedFor(request: TestInputRequest) {
  const [row] = await sql`
    SELECT r.status, r.submitted_at, r.expired_at, count(a.id)::int AS answers
    FROM input_requests r LEFT JOIN input_responses a ON a.input_request_id = r.id
    WHERE r.id = ${request.id} GROUP BY r.id`;
  return row as { status: string; submitted_at: Date; expired_at: Date; answers: number };
}

describe("an answer to an input request", () => {
  test("is stored, and the request becomes submitted", async () => {
    const request = await ask();
    const values = { note: "", count: 1.5, sure: false, colour: "red", sizes: ["l", "s"] };
    const { status, body } = await answer(request, values);
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, accepted: true, duplicate: false });
    expect(body.input_response).toMatchObject({
      input_request_id: request.id,
      conversation_id: conversation,
      actor_type: "human",
      actor_id: member.userId,
      values,
    });
    expect(body.input_request).toMatchObject({
      id: request.id,
      status: "submitted",
      kind: "form",
      requested_responder_type: "human",
      title: "A question",
      fields: FIELDS,
      latest_response: body.input_response,
    });
    expect(body.input_request.submitted_at).toMatch(/^\d{4}-.*\.\d{3}Z$/);
    expect(await storedFor(request)).toMatchObject({ status: "submitted", answers: 1 });
  });

  test("of the same values in any order is answered with the stored one", async () => {
    const request = await ask();
    const first = await answer(request, { note: "a", count: 1, sizes: ["s"] });
    const again = await answer(request, { sizes: ["s"], sure: null, count: 1.0, note: "a" });
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, duplicate: true });
    expect(await storedFor(request)).toMatchObject({ answers: 1 });
  });

  test("of other values is a conflict that no retry mends", async () => {
    const request = await ask();
    await answer(request, { note: "a", sizes: ["s", "l"] });
    const other = await answer(request, { note: "a", sizes: ["l", "s"] });
    expect(other.status).toBe(409);
    expect(other.body.slug).toBe("idempotency-conflict");
    expect(other.body.idempotency).toMatchObject({
      state: "payload_mismatch",
      operation: "answerInputRequest",
      retryable: false,
      retry_after_seconds: null,
      expires_at: null,
      recovery: { available: true },
    });
    const { resource_url } = other.body.idempotency.recovery;
    expect((await api.get(resource_url.slice(api.url.length), member)).status).toBe(200);
  });

  test("given many times at once is stored once", async () => {
    const request = await ask();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => answer(request, { note: "a", count: at % 2 })),
    );
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(8);
    expect(taken.filter(({ body }) => !body.duplicate)).toHaveLength(1);
    expect(new Set(taken.map(({ body }) => body.input_response.id)).size).toBe(1);
    for (const { status, body } of answers) {
      if (status !== 200) expect(body.idempotency.state).toBe("payload_mismatch");
    }
    expect(await storedFor(request)).toMatchObject({ status: "submitted", answers: 1 });
  });

  test("keeps characters that a database may not like, and fields with odd names", async () => {
    const fields = ["__proto__", "a.b", ""].map((name) => ({ name, type: "text" }));
    const request = await ask({ fields });
    const values = JSON.parse('{"__proto__":"\\u0000","a.b":"\\ud800","":"x"}');
    const first = await answer(request, values);
    expect(first.status).toBe(200);
    expect(JSON.stringify(first.body.input_response.values)).toBe(JSON.stringify(values));
    expect((await answer(request, values)).body.duplicate).toBe(true);
  });

  test("by API key counts as its user's own", async () => {
    const { body } = await api.post((await ask()).path, valid, await api.key(member, { project }));
    expect(body.input_response).toMatchObject({ actor_type: "human", actor_id: member.userId });
  });
});

describe("values that do not fit the fields answer 400 and store nothing", () => {
  const wrong: [why: string, values: unknown, field: string][] = [
    ["no values", undefined, "values"],
    ["values that are null", null, "values"],
    ["values that are a list", [], "values"],
    ["a missing required field", {}, "values.note"],
    ["null in a required field", { note: null }, "values.note"],
    ["an unknown field", { note: "a", other: 1 }, "values.other"],
    ["an unknown field that is null", { note: "a", toString: null }, "values.toString"],
    ["a number as text", { note: 1 }, "values.note"],
    ["text as a number", { note: "a", count: "1" }, "values.count"],
    ["text as a boolean", { note: "a", sure: "true" }, "values.sure"],
    ["a select beside its options", { note: "a", colour: "blue" }, "values.colour"],
    ["a select of several", { note: "a", colour: ["red"] }, "values.colour"],
    ["a multiselect beside its options", { note: "a", sizes: ["s", "m"] }, "values.sizes"],
    ["a multiselect that is no list", { note: "a", sizes: "s" }, "values.sizes"],
  ];
  for (const [why, values, field] of wrong) {
    test(why, async () => {
      const request = await ask();
      const { status, body } = await answer(request, values);
      expect(status).toBe(400);
      expect(body.slug).toBe("validation-failed");
      expect(body.errors.map((error: { field: string }) => error.field)).toContain(field);
      expect(await storedFor(request)).toMatchObject({ status: "open", answers: 0 });
    });
  }

  test("every wrong field is named, and a long name is not echoed back", async () => {
    const { body } = await answer(await ask(), { count: "1", ["x".repeat(500)]: 1 });
    expect(body.errors).toHaveLength(3);
    expect(JSON.stringify(body.errors)).not.toContain("x".repeat(100));
  });
});

describe("an input request that is no longer open", () => {
  const closed = async (request: TestInputRequest) => {
    const { status, body } = await answer(request, valid.values);
    expect(status).toBe(409);
    expect(body.slug).toBe("input-request-closed");
    expect(body.idempotency).toBeUndefined();
    expect(await storedFor(request)).toMatchObject({ answers: 0 });
  };

  test("because it was cancelled or has expired answers 409", async () => {
    await closed(await ask({ status: "cancelled" }));
    await closed(await ask({ status: "expired" }));
  });

  test("because its time is over becomes expired on the spot", async () => {
    const request = await ask({ expiresAt: new Date(Date.now() - 1_000) });
    await closed(request);
    const { status, expired_at } = await storedFor(request);
    expect(status).toBe("expired");
    expect(expired_at).toBeInstanceOf(Date);
  });

  test("but was answered in time still knows its answer", async () => {
    const request = await ask({ expiresAt: new Date(Date.now() + 60_000) });
    await answer(request, valid.values);
    await sql`UPDATE input_requests SET expires_at = now() - interval '1 hour' WHERE id = ${request.id}`;
    expect((await answer(request, valid.values)).body.duplicate).toBe(true);
  });
});

describe("who may answer", () => {
  refusesBadCredentials({ api, method: "POST", path, json: valid });
  needsPermission({ api, method: "POST", path, json: valid, project });
  const madeUpPath = path.replace(conversation, randomUUID());
  const slug = "conversation-not-found";
  hidesFromForeigners({
    api,
    method: "POST",
    path,
    json: valid,
    project,
    slug,
    madeUpPath,
    member,
  });

  test("a request of another conversation answers 404, as one that does not exist", async () => {
    const elsewhere = await ask();
    const other = await addConversation(sql, member, project);
    for (const id of [elsewhere.id, randomUUID(), "nonsense", "a%00b"]) {
      const to = `/conversations/${other}/input-requests/${id}/responses`;
      const { status, body } = await api.post(to, valid, member);
      expect([status, body.slug]).toEqual([404, "input-request-not-found"]);
    }
  });

  test("a conversation without a project is its maker's alone", async () => {
    const own = await addInputRequest(sql, await addConversation(sql, member));
    expect((await api.post(own.path, valid, await api.user())).body.slug).toBe(slug);
    const bound = await api.key(member, { project });
    expect((await api.post(own.path, valid, bound)).body.slug).toBe(slug);
    expect((await api.post(own.path, valid, member)).status).toBe(200);
  });
});
