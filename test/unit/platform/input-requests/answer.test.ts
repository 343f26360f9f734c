import { beforeEach, describe, expect, test } from "bun:test";
import type { Principal } from "../../../../src/auth/principal.ts";
import type { Coordinator } from "../../../../src/db/coordination/coordinator.ts";
import { createMemoryCoordinator } from "../../../../src/db/coordination/memory.ts";
import { answerRequest } from "../../../../src/platform/input-requests/service.ts";
import { addProject, addUser } from "../../../../support/accounts.ts";
import { addInputRequest, type TestInputRequest } from "../../../../support/api/input-requests.ts";
import { addConversation } from "../../../../support/content.ts";
import { beforeCommit } from "../../../../support/open-transaction.ts";
import { createTestDatabase } from "../../../../support/processes/postgres.ts";

const { sql } = await createTestDatabase();
const member = await addUser(sql);
const stranger = await addUser(sql);
const project = await addProject(sql, member);
const conversation = await addConversation(sql, { userId: member }, project);

const principalOf = (userId: string): Principal => ({
  userId,
  identity: null,
  keyId: null,
  projectId: null,
  scopes: null,
  account: new Set(),
});

/** The names of the leases that were asked for. */
let leases: string[] = [];
beforeEach(() => {
  leases = [];
});

/** Answers a request under leases of a coordinator that first runs `acquiring`. */
function answer(
  { id: requestId }: TestInputRequest,
  userId: string,
  acquiring: Coordinator["acquire"] | (() => Promise<void>) = async () => {},
) {
  const memory = createMemoryCoordinator();
  const acquire: Coordinator["acquire"] = async (name, ttlMs) => {
    leases.push(name);
    return (await acquiring(name, ttlMs)) ?? (await memory.acquire(name, ttlMs));
  };
  const services = {
    sql,
    coordinator: { ...memory, acquire },
    baseUrl: "http://localhost",
    failpoint() {},
  };
  const given = { conversationId: conversation, requestId, values: { note: "a" } };
  return answerRequest(services, { principal: principalOf(userId), ...given });
}

async function statusOf({ id }: TestInputRequest): Promise<string> {
  const [row] = await sql<{ status: string }[]>`SELECT status FROM input_requests WHERE id = ${id}`;
  return row?.status as string;
}

describe("the answer to an input request", () => {
  test("a member who was removed before the answer is stored stores none", async () => {
    const request = await addInputRequest(sql, conversation);
    const leaver = await addUser(sql);
    await sql`
      INSERT INTO memberships (project_id, user_id, role) VALUES (${project.id}, ${leaver}, 'member')`;
    const removal = async () => {
      await sql`DELETE FROM memberships WHERE user_id = ${leaver}`;
    };
    const answered = answer(request, leaver, removal);
    await expect(answered).rejects.toMatchObject({ slug: "conversation-not-found" });
    expect(await statusOf(request)).toBe("open");
  });

  test("a stranger does not learn that another answer is being stored, as a member does", async () => {
    const request = await addInputRequest(sql, conversation);
    const held = async () => ({ heldForMs: 1_000 });
    const [told, hidden] = [answer(request, member, held), answer(request, stranger, held)];
    await expect(told).rejects.toMatchObject({ slug: "idempotency-conflict" });
    await expect(hidden).rejects.toMatchObject({ slug: "conversation-not-found" });
  });

  test("answers to the same request share a lease, and those to others have their own", async () => {
    const requests = [
      await addInputRequest(sql, conversation),
      await addInputRequest(sql, conversation),
    ] as const;
    for (const request of [...requests, requests[0]]) await answer(request, member);
    const [first, second, again] = leases;
    expect(second).not.toBe(first as string);
    expect(again).toBe(first as string);
  });

  test("a request that is cancelled meanwhile is not answered", async () => {
    const request = await addInputRequest(sql, conversation);
    const answered = beforeCommit(
      sql,
      (tx) => tx`UPDATE input_requests SET status = 'cancelled' WHERE id = ${request.id}`,
      () => answer(request, member),
    );
    await expect(answered).rejects.toMatchObject({ slug: "input-request-closed" });
    expect(await statusOf(request)).toBe("cancelled");
  });
});
