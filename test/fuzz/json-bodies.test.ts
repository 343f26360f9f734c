import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { addConversation } from "../../support/content.ts";
import { startApi } from "../support/api.ts";
import type { Json } from "../support/openapi.ts";

const RUNS = 150;
const api = await startApi();
const user = await api.user({ permissions: ["account.billing.manage"] });
const project = await api.project(user);
const conversation = await addConversation(api.sql, user, project);
const inputRequest = randomUUID();
await api.sql`
  INSERT INTO input_requests (id, conversation_id, fields)
  VALUES (${inputRequest}, ${conversation}, ${api.sql.json([{ name: "a", type: "number" }])})`;
await api.sql`
  INSERT INTO environments (id, project_id, name)
  VALUES (${randomUUID()}, ${project.id}, 'production')`;

const { document } = await api.contract();
const places: Record<string, string> = {
  project_reference: project.slug,
  environmentName: "production",
  version: "v1",
  conversation_id: conversation,
  input_request_id: inputRequest,
};

/** Every operation with a JSON body, with a path to an existing resource. */
const operations = Object.entries<Json>(document.paths)
  .filter(([, methods]) => methods.post?.requestBody?.content["application/json"])
  .filter(([path]) => path !== "/webhooks/{webhook_id}")
  .map(([path, methods]) => ({
    name: methods.post.operationId as string,
    path: path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => places[name] as string),
    media: methods.post.requestBody.content["application/json"],
  }));

/** Text that often causes faults: NUL, lone surrogates, other scripts, SQL, paths. */
const nastyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "\0",
    "\ud800",
    "\udfff\ud800",
    "__proto__",
    "constructor",
    "'; --",
    "../..",
    "ﷺ",
  ),
  fc.constantFrom("a".repeat(5_000), "1e999", "NaN", "2026-02-30T00:00:00Z", "-0", randomUUID()),
);
const nastyNumber = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, -0, 1e308, -1, 0.5, 2 ** 53, Number.MAX_SAFE_INTEGER),
);
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  nastyText,
  nastyNumber,
  fc.array(nastyNumber, { maxLength: 20 }),
  fc.dictionary(fc.constantFrom("a", "__proto__"), fc.oneof(nastyText, nastyNumber)),
  fc.constantFrom(null, true, [], {}, [[]], [null]),
);

/** The documented example with arbitrary values in some of its fields. */
function bodyOf({ schema, example }: Json): fc.Arbitrary<unknown> {
  const fields: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, field] of Object.entries<Json>(schema.properties ?? {})) {
    const kind = field.type === "string" ? nastyText : field.type ? nastyNumber : anything;
    fields[name] = fc.oneof(kind, anything);
  }
  const replaced = fc.record(fields, { requiredKeys: [] });
  // Most fields are unchanged, so that later checks are reached too.
  const names = Object.keys(fields);
  const kept = fc.subarray(names, { maxLength: Math.min(2, names.length) });
  const few = fc.tuple(replaced, kept).map(([values, chosen]) => {
    const picked = chosen.filter((name) => name in values).map((name) => [name, values[name]]);
    return { ...example, ...Object.fromEntries(picked) };
  });
  return fc.oneof({ weight: 3, arbitrary: few }, replaced);
}

describe("for any JSON body an operation answers as documented and never with a 500", () => {
  test("all operations with a JSON body are covered", () => {
    expect(operations.map(({ path }) => path).join()).not.toContain("undefined");
    expect(operations.length).toBeGreaterThanOrEqual(7);
  });

  for (const { name, path, media } of operations) {
    test(name, async () => {
      const body = fc.oneof({ weight: 4, arbitrary: bodyOf(media) }, anything);
      await fc.assert(
        fc.asyncProperty(body, async (json) => {
          // Sent as bytes, because a body may be valid without being documented, such as one with nulls.
          const answer = await api.send("POST", path, {
            as: user,
            body: JSON.stringify(json) ?? "",
            headers: { "content-type": "application/json" },
          });
          // Billing has no provider here, which is a documented 500.
          const isExpected = answer.status < 500 || answer.body.slug === "billing-not-configured";
          expect(isExpected, `${answer.status} ${answer.text}`).toBe(true);
        }),
        { numRuns: RUNS },
      );
    });
  }

  test("bytes that are not JSON are refused by every operation", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), async (bytes) => {
        for (const { path } of operations) {
          const answer = await api.send("POST", path, {
            as: user,
            body: Uint8Array.from(bytes),
            headers: { "content-type": "application/json" },
          });
          expect(answer.status).toBeGreaterThanOrEqual(400);
          expect(answer.status).toBeLessThan(500);
        }
      }),
      { numRuns: 30 },
    );
  });
});
