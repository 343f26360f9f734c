import fc from "fast-check";
import type { Reply } from "../world/requests.ts";
import { type Commands, pick, same, weighted } from "./command.ts";
import type { ModelInputRequest, Scene, Tenant } from "./tenant.ts";

const [OK, CONFLICT] = [200, 409];
const CHOICES = 3;
const COPIES_MAX = 3;

interface Sent {
  readonly choice: number;
  readonly reply: Reply;
}

function noteAccepted(known: ModelInputRequest, { choice, reply }: Sent): void {
  if (reply.kind !== "answer" || reply.status !== OK) return;
  if (known.closed) throw new Error(`the closed request ${known.id} was answered`);
  same("the stored answer", reply.body.input_response.values, { choice });
  if (known.stored !== undefined) same("the answer of a request", choice, known.stored);
  if (!reply.body.duplicate) known.accepted++;
  if (known.accepted > 1) throw new Error(`the request ${known.id} was answered twice`);
  known.stored = choice;
}

/** Checks an answer that was not accepted. `others` are choices that may have been stored instead. */
function noteConflict(known: ModelInputRequest, sent: Sent, others: ReadonlySet<number>): void {
  const { choice, reply } = sent;
  if (reply.kind !== "answer" || reply.status === OK) return;
  same(`the status of an answer, ${JSON.stringify(reply.body)}`, reply.status, CONFLICT);
  if (reply.body.slug === "input-request-closed") {
    same(`whether ${known.id} is closed`, known.closed, true);
    return;
  }
  const { state } = reply.body.idempotency;
  if (state === "outcome_unknown") known.perhaps.add(choice);
  if (state !== "payload_mismatch") return;
  const isOther =
    known.stored === undefined ? [...others].some((o) => o !== choice) : known.stored !== choice;
  if (!isOther) throw new Error(`the choice ${choice} mismatches ${known.stored}`);
}

async function sendAnswers(
  tenant: Tenant,
  scene: Scene,
  known: ModelInputRequest,
  { at, choices }: { readonly at: number; readonly choices: readonly number[] },
): Promise<void> {
  const path = `/conversations/${known.conversation}/input-requests/${known.id}/responses`;
  const sent = await Promise.all(
    choices.map(async (choice, i): Promise<Sent> => {
      const as = pick([tenant.owner, tenant.member], i);
      const json = { values: { choice } };
      return { choice, reply: await scene.requests.send(at + i, "POST", path, { as, json }) };
    }),
  );
  for (const { choice, reply } of sent) if (reply.kind === "lost") known.perhaps.add(choice);
  for (const each of sent) noteAccepted(known, each);
  const others = new Set([...known.perhaps, ...choices]);
  for (const each of sent) noteConflict(known, each, others);
}

async function answer(
  tenant: Tenant,
  scene: Scene,
  params: { readonly request: number; readonly choices: readonly number[]; readonly at: number },
): Promise<void> {
  await sendAnswers(tenant, scene, pick(tenant.requests, params.request), params);
}

/** After the faults: what was acknowledged is stored, and nothing else. */
export async function verifyAnswers(tenant: Tenant, { world }: Scene): Promise<void> {
  const ids = tenant.requests.map(({ id }) => id);
  const rows = await world.postgres.sql<{ id: string; status: string; choice: number | null }[]>`
    SELECT r.id, r.status, (a.values ->> 'choice')::int AS choice FROM input_requests r
    LEFT JOIN input_responses a ON a.input_request_id = r.id WHERE r.id = ANY(${ids})`;
  const stored = new Map(rows.map((row) => [row.id, row]));
  for (const known of tenant.requests) {
    const { status, choice = null } = stored.get(known.id) ?? {};
    const allowed = known.stored === undefined ? [null, ...known.perhaps] : [known.stored];
    if (!allowed.includes(choice)) {
      throw new Error(`the answer of ${known.id} is ${choice}, not one of ${allowed}`);
    }
    same(`whether ${known.id} is submitted`, status === "submitted", choice !== null);
  }
}

/** Reads a conversation with its tree and one of its messages. */
async function readConversation(
  { conversation, member: as }: Tenant,
  { requests }: Scene,
  { at, message }: { readonly at: number; readonly message: number },
): Promise<void> {
  const { id, messages } = conversation;
  const get = async (path: string) => {
    const { status, body } = await requests.answered(at, "GET", `/conversations/${id}${path}`, {
      as,
    });
    same(`the status of ${path}`, status, OK);
    return body;
  };
  same("the number of messages", (await get("")).message_count, messages.length);
  const { items } = await get("/tree");
  same(
    "the tree",
    items.map((item: { id: string }) => item.id),
    messages,
  );
  const one = pick(messages, message);
  same("the message", (await get(`/messages/${one}`)).parts[0].text, one);
}

const choice = fc.nat(CHOICES - 1);
const choices = fc.oneof(
  choice.map((one) => [one]),
  fc.array(choice, { minLength: 2, maxLength: COPIES_MAX }),
);

export const answerCommands: Commands = [
  weighted(6, "answer", { request: fc.nat(20), choices, at: fc.nat(1) }, answer),
  weighted(3, "read a conversation", { at: fc.nat(1), message: fc.nat(20) }, readConversation),
];
