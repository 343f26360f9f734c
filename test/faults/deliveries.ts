import { expect } from "bun:test";
import type { Sql } from "../../src/db/client.ts";
import { random } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { orphanRows, storedRows, type TestWebhook } from "../../support/webhooks.ts";

/** Deliveries, some of them repetitions, that are sent until each is acknowledged. */
interface Workload {
  /** URLs of the services, all on one database. The array may change meanwhile. */
  readonly urls: string[];
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly deliveries: number;
  /** The share of the deliveries that repeat the key and payload of an earlier one. */
  readonly repeatShare: number;
  readonly clients: number;
  /** Called with the number of acknowledged deliveries after each one. */
  readonly onProgress?: (acknowledged: number) => void;
}

interface Tally {
  readonly keys: number;
  /** Number of requests by outcome: a status, the state in a 409, or `no answer`. */
  readonly answers: Map<string, number>;
  /** The event that was acknowledged for each key. */
  readonly events: Map<string, string>;
  /** Answers that contradict an earlier one; must be 0. */
  contradictions: number;
}

const ANSWER_TIMEOUT_MS = 240_000;

interface Reply {
  readonly name: string;
  readonly body?: { webhook_event_id: string; payload: { key: string } };
}

function payloadOf(key: string): string {
  return JSON.stringify({ key, filler: key.repeat(40) });
}

async function send(workload: Workload, key: string): Promise<Reply> {
  const { urls, path, headers } = workload;
  const url = urls[Math.floor(random() * urls.length)];
  try {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", "idempotency-key": key },
      body: payloadOf(key),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the service's own tests prove its shape
    const body = (await response.json()) as any;
    if (response.status === 200) return { name: "200", body };
    const state: string | undefined = body.idempotency?.state;
    return { name: state === undefined ? String(response.status) : `409 ${state}` };
  } catch {
    return { name: "no answer" };
  }
}

/** Sends one delivery until it is acknowledged, and compares the answer with earlier ones. */
async function deliver(workload: Workload, tally: Tally, key: string): Promise<void> {
  await until("the delivery is acknowledged", async () => {
    const { name, body } = await send(workload, key);
    tally.answers.set(name, (tally.answers.get(name) ?? 0) + 1);
    if (body === undefined) return false;
    const event = body.webhook_event_id;
    const known = tally.events.get(key) ?? event;
    tally.events.set(key, known);
    if (known !== event || body.payload.key !== key) tally.contradictions++;
    return true;
  });
}

/** Keys in sending order. A repetition follows closely, often while the first is in progress. */
function keysOf({ deliveries, repeatShare }: Workload): string[] {
  const keys: string[] = [];
  for (let at = 0; at < deliveries; at++) {
    const isRepeat = at > 0 && Math.floor(at * repeatShare) !== Math.floor((at - 1) * repeatShare);
    const back = 1 + Math.floor(random() * Math.min(at, 20));
    keys.push(isRepeat ? (keys[at - back] as string) : crypto.randomUUID());
  }
  return keys;
}

/** Sends the whole workload and counts the answers. */
export async function sendDeliveries(workload: Workload): Promise<Tally> {
  const keys = keysOf(workload);
  const tally: Tally = {
    keys: new Set(keys).size,
    answers: new Map(),
    events: new Map(),
    contradictions: 0,
  };
  let next = 0;
  let acknowledged = 0;
  const client = async () => {
    while (next < keys.length) {
      await deliver(workload, tally, keys[next++] as string);
      workload.onProgress?.(++acknowledged);
    }
  };
  await Promise.all(Array.from({ length: workload.clients }, client));
  return tally;
}

/** Expects that each key is stored once, and nothing else is. */
export async function expectStoredOnce(sql: Sql, webhook: TestWebhook, tally: Tally) {
  const { keys } = tally;
  expect(tally.contradictions).toBe(0);
  expect(await storedRows(sql, webhook)).toEqual({
    events: keys,
    messages: keys,
    runs: keys,
    keys,
  });
  expect(await orphanRows(sql)).toBe(0);
}
