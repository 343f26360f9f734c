import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sharedApi } from "../../support/api/api.ts";
import {
  addInputRequest,
  FIELDS,
  storedFor,
  type TestInputRequest,
} from "../../support/api/input-requests.ts";
import { addConversation } from "../../support/content.ts";
import { openTransaction } from "../../support/open-transaction.ts";

const api = await sharedApi();
const { sql } = api;
const { owner: member, project } = await api.ownedProject();
const conversation = await addConversation(sql, member, project);
const valid = { values: { note: "yes" } };

const ask = (options?: Parameters<typeof addInputRequest>[2]) =>
  addInputRequest(sql, conversation, options);
const answer = (to: TestInputRequest, values: unknown) => api.post(to.path, { values }, member);

describe("POST /conversations/{conversation_id}/input-requests/{input_request_id}/responses", () => {
  test("an answer is stored and the request becomes submitted", async () => {
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
    expect(await storedFor(sql, request)).toMatchObject({ status: "submitted", answers: 1 });
  });

  test("the same values in any order return the stored answer", async () => {
    const request = await ask();
    const first = await answer(request, { note: "a", count: 1, sizes: ["s"] });
    const again = await answer(request, { sizes: ["s"], sure: null, count: 1.0, note: "a" });
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, duplicate: true });
    expect(await storedFor(sql, request)).toMatchObject({ answers: 1 });
  });

  test("other values for an answered request return 409 and are not retryable", async () => {
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

  test("of concurrent answers, one is stored", async () => {
    const request = await ask();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, at) => answer(request, { note: "a", count: at % 2 })),
    );
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken.filter(({ body }) => !body.duplicate)).toHaveLength(1);
    expect(new Set(taken.map(({ body }) => body.input_response.id)).size).toBe(1);
    for (const { status, body } of answers) {
      if (status !== 200) {
        expect(body.idempotency.state).toBeOneOf(["in_progress", "payload_mismatch"]);
      }
    }
    const stored = taken[0]?.body.input_response;
    for (const at of answers.keys()) {
      const { status, body } = await answer(request, { note: "a", count: at % 2 });
      const isSame = stored.values.count === at % 2;
      expect(status).toBe(isSame ? 200 : 409);
      expect(isSame ? body.input_response : body.idempotency.state).toEqual(
        isSame ? stored : "payload_mismatch",
      );
    }
    expect(await storedFor(sql, request)).toMatchObject({ status: "submitted", answers: 1 });
  });

  test("an answer that another one keeps waiting is told that it is in progress", async () => {
    const request = await ask();
    const { commit } = await openTransaction(sql, (tx) => {
      return tx`SELECT FROM input_requests WHERE id = ${request.id} FOR UPDATE`;
    });
    const { status, body } = await answer(request, valid.values);
    expect([status, body.idempotency?.state]).toEqual([409, "in_progress"]);
    await commit();
    expect((await answer(request, valid.values)).status).toBe(200);
  });

  test("NUL characters, lone surrogates and unusual field names are stored unchanged", async () => {
    const fields = ["__proto__", "a.b", ""].map((name) => ({ name, type: "text" }));
    const request = await ask({ fields });
    const values = JSON.parse('{"__proto__":"\\u0000","a.b":"\\ud800","":"x"}');
    const first = await answer(request, values);
    expect(first.status).toBe(200);
    expect(JSON.stringify(first.body.input_response.values)).toBe(JSON.stringify(values));
    expect((await answer(request, values)).body.duplicate).toBe(true);
  });

  test("an answer by API key counts as an answer of the key's user", async () => {
    const { body } = await api.post((await ask()).path, valid, await api.key(member, { project }));
    expect(body.input_response).toMatchObject({ actor_type: "human", actor_id: member.userId });
  });
});

describe("validation of an answer", () => {
  const wrong: [why: string, values: unknown, field: string][] = [
    ["no values", undefined, "values"],
    ["null as values", null, "values"],
    ["a list as values", [], "values"],
    ["a missing required field", {}, "values.note"],
    ["null in a required field", { note: null }, "values.note"],
    ["an unknown field", { note: "a", other: 1 }, "values.other"],
    ["an unknown field that is null", { note: "a", toString: null }, "values.toString"],
    ["a number as text", { note: 1 }, "values.note"],
    ["text as a number", { note: "a", count: "1" }, "values.count"],
    ["text as a boolean", { note: "a", sure: "true" }, "values.sure"],
    ["a value that is not an option of a select", { note: "a", colour: "blue" }, "values.colour"],
    ["several values for a select", { note: "a", colour: ["red"] }, "values.colour"],
    [
      "a value that is not an option of a multiselect",
      { note: "a", sizes: ["s", "m"] },
      "values.sizes",
    ],
    ["a single value for a multiselect", { note: "a", sizes: "s" }, "values.sizes"],
  ];
  for (const [why, values, field] of wrong) {
    test(`an answer with ${why} returns 400 and stores nothing`, async () => {
      const request = await ask();
      const { status, body } = await answer(request, values);
      expect(status).toBe(400);
      expect(body.slug).toBe("validation-failed");
      expect(body.errors.map((error: { field: string }) => error.field)).toContain(field);
      expect(await storedFor(sql, request)).toMatchObject({ status: "open", answers: 0 });
    });
  }

  test("the errors of an answer name every wrong field, with long names shortened", async () => {
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
    expect(await storedFor(sql, request)).toMatchObject({ answers: 0 });
  };

  test("answering a cancelled or expired request returns 409", async () => {
    await closed(await ask({ status: "cancelled" }));
    await closed(await ask({ status: "expired" }));
  });

  test("answering an overdue request returns 409 and marks it as expired", async () => {
    const request = await ask({ expiresAt: new Date(Date.now() - 1_000) });
    await closed(request);
    const expired = { status: "expired", expired_at: expect.any(Date) };
    expect(await storedFor(sql, request)).toMatchObject(expired);
  });

  test("a request answered in time returns its answer after it expired", async () => {
    const request = await ask({ expiresAt: new Date(Date.now() + 60_000) });
    await answer(request, valid.values);
    await sql`UPDATE input_requests SET expires_at = now() - interval '1 hour' WHERE id = ${request.id}`;
    expect((await answer(request, valid.values)).body.duplicate).toBe(true);
  });
});

describe("who may answer", () => {
  const slug = "conversation-not-found";

  test("a request of another conversation returns 404, like an unknown or malformed id", async () => {
    const elsewhere = await ask();
    const other = await addConversation(sql, member, project);
    for (const id of [elsewhere.id, randomUUID(), "nonsense", "a%00b"]) {
      const to = `/conversations/${other}/input-requests/${id}/responses`;
      const { status, body } = await api.post(to, valid, member);
      expect([status, body.slug]).toEqual([404, "input-request-not-found"]);
    }
  });

  test("a request in a conversation without a project can be answered only by the creator", async () => {
    const own = await addInputRequest(sql, await addConversation(sql, member));
    expect((await api.post(own.path, valid, await api.user())).body.slug).toBe(slug);
    const bound = await api.key(member, { project });
    expect((await api.post(own.path, valid, bound)).body.slug).toBe(slug);
    expect((await api.post(own.path, valid, member)).status).toBe(200);
  });
});
