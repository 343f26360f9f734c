import { expect, test } from "bun:test";
import type { Answer } from "../../support/api/api.ts";
import { sharedBilling } from "../../support/api/billing.ts";
import { addDemo, examplesOfOne, operationsOf, sendExample } from "./operation-examples.ts";

const { api } = await sharedBilling();
const { owner } = await addDemo(api);
const operations = await operationsOf(api);
const stranger = await api.user();

function expectPrivate({ headers }: Answer): void {
  expect(headers.get("cache-control")).toMatch(/^private\b|^no-store$/);
  const names = headers.get("vary")?.toLowerCase().split(/, */) ?? [];
  expect(names).toEqual(expect.arrayContaining(["authorization", "x-api-key"]));
}

test.each(operations.filter(({ operation }) => operation.security.length > 0))(
  "an answer of $operation.operationId to a credential is kept by no cache that others share",
  async (operation) => {
    for (const example of await examplesOfOne(api, owner, operation)) {
      expectPrivate(await sendExample(api, owner, example));
      expectPrivate(await sendExample(api, stranger, example));
      expectPrivate(await sendExample(api, { userId: "", headers: {} }, example));
    }
  },
);
