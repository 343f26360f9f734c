import { expect, test } from "bun:test";
import { recordRequest } from "../../../src/http/request-record.ts";
import type { Log } from "../../../src/ops/observability/log.ts";
import { createMetrics } from "../../../src/ops/observability/metrics.ts";

const BOUND_MS = 100;

/** The messages of the log about a request that takes so long, at a level that has requests or not. */
function messagesOf(milliseconds: number, { hasRequests }: { readonly hasRequests: boolean }) {
  const messages: string[] = [];
  const log = {
    isLevelEnabled: () => hasRequests,
    http: (_: object, message: string) => void (hasRequests && messages.push(message)),
    warn: (_: object, message: string) => void messages.push(message),
  } as unknown as Log;
  const context = { metrics: createMetrics(), log, questions: { counts: undefined } };
  // Those of one operation are logged as a sample.
  const request = { requestId: "r", operation: { id: crypto.randomUUID() } };
  const answered = { status: 200, milliseconds };
  recordRequest({ ...context, config: { slowRequestMs: BOUND_MS } }, request, answered);
  return messages;
}

test("at the default level requests are not logged, nor those as slow that take less than the bound", () => {
  expect(messagesOf(BOUND_MS - 1, { hasRequests: false })).toEqual([]);
  expect(messagesOf(BOUND_MS, { hasRequests: false })).toEqual(["slow request"]);
  expect(messagesOf(BOUND_MS - 1, { hasRequests: true })).toEqual(["request"]);
  expect(messagesOf(BOUND_MS, { hasRequests: true })).toEqual(["request", "slow request"]);
});
