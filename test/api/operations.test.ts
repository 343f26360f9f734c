import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { generateKey } from "../../src/auth/key-format.ts";
import { PERMISSIONS } from "../../src/auth/principal.ts";
import { type Caller, withoutRequestId } from "../../support/api/api.ts";
import { sharedBilling } from "../../support/api/billing.ts";
import {
  addDemo,
  type DocumentedOperation,
  type Example,
  examplesOfOne,
  operationsOf,
  sendExample,
} from "./operation-examples.ts";

/** Operations of the OpenAPI document whose path names nothing of a project, with the reason. */
const OF_NO_PROJECT: Readonly<Record<string, string>> = {
  callMcp: "runs other operations, as their caller",
  createApiKey: "makes something of the caller's own",
  createProject: "makes something of the caller's own",
  getErrorType: "describes the catalogue, which is the same for everybody",
  listApiKeys: "lists the caller's own",
  listEmbedders: "lists the configuration, which is the same for everybody",
  listInvitations: "lists the caller's own",
  listProjects: "lists the caller's own",
  openMcpStream: "has nothing to show",
  upgradeSubscription: "changes something of the caller's own",
};

/** Operations that need no permission, with the reason. */
const WITHOUT_PERMISSION: Readonly<Record<string, string>> = {
  callMcp: "the operations that it runs need theirs",
  deliverWebhook:
    "the secret of the webhook suffices; test/api/webhook-access.test.ts has its other callers",
  getErrorType: "a problem links to it",
  openMcpStream: "has nothing to show",
};

const EXPIRED_SECONDS = 120;

const { api } = await sharedBilling();
const { owner, project } = await addDemo(api);
const operations = await operationsOf(api);
const foreigners = await api.foreigners(project);
/** Another project of its owner, which has nothing. */
const own = await api.project(owner);

/** The headers of credentials that are none, with the reason. */
async function badCredentials(): Promise<Record<string, Record<string, string>>> {
  const key = generateKey();
  const typo = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
  const user = await api.user();
  const exp = Math.floor(Date.now() / 1_000) - EXPIRED_SECONDS;
  const revoked = await api.key(user);
  await api.sql`UPDATE api_keys SET revoked_at = now() WHERE id = ${revoked.id}`;
  const expired = await api.key(user, { expiresAt: new Date(Date.now() - 1_000) });
  return {
    none: {},
    "an empty bearer": { authorization: "Bearer " },
    basic: { authorization: "Basic dXNlcjpwYXNz" },
    "no token": { authorization: "Bearer nonsense" },
    "an unknown key": { "x-api-key": key },
    "a key with a typo": { authorization: `Bearer ${typo}` },
    "an expired token": { ...(await api.token(user.userId, { exp })).headers },
    "an expired key": { ...expired.headers },
    "a revoked key": { ...revoked.headers },
  };
}

const credentials = await badCredentials();

const send = (example: Example, as: Caller) => sendExample(api, as, example);

const idOf = ({ operation }: DocumentedOperation): string => operation.operationId;
/** The permission that an operation needs; undefined if it needs none. */
const permissionOf = ({ operation }: DocumentedOperation) =>
  /Needs the permission `([\w.]+)`/.exec(operation.description ?? "")?.[1];
/** The names of the parameters in its path. */
const placesOf = ({ template }: DocumentedOperation) =>
  [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);

/** A key of the owner of the project with these permissions. */
const keyWith = (scopes: readonly string[]) => api.key(owner, { scopes });

/** The permissions that a body names, which its sender has to have. */
const namedScopes = ({ operation }: DocumentedOperation): string[] =>
  operation.requestBody?.content["application/json"]?.example.scopes ?? [];

const isPublic = ({ operation }: DocumentedOperation) => operation.security.length === 0;
const takesSecret = ({ operation }: DocumentedOperation) =>
  JSON.stringify(operation.security).includes("webhookSecret");

/** Expects an answer to each example that is exactly that to another request of the owner, with this status. */
async function expectHidden(
  operation: DocumentedOperation,
  missing: Readonly<Record<string, string>>,
  callers: ReadonlyArray<{ readonly why: string; readonly caller: Caller }>,
  places: Readonly<Record<string, string>> = {},
): Promise<void> {
  const others = await examplesOfOne(api, owner, operation, missing);
  for (const [i, example] of (await examplesOfOne(api, owner, operation, places)).entries()) {
    const expected = await send(others[i] as Example, owner);
    expect(expected.status).toBe(404);
    for (const { why, caller } of callers) {
      const answer = await send(example, caller);
      expect(answer.status, why).toBe(404);
      expect(withoutRequestId(answer), why).toEqual(withoutRequestId(expected));
    }
  }
}

const PROJECT = "project_reference";

test("every operation needs a credential, a permission and access to its project, but for those named here", () => {
  const ids = (some: DocumentedOperation[]) => some.map(idOf).sort();
  expect(ids(operations.filter(isPublic))).toEqual(["openMcpStream"]);
  const free = operations.filter((each) => permissionOf(each) === undefined);
  expect(ids(free)).toEqual(Object.keys(WITHOUT_PERMISSION));
  const placeless = operations.filter((each) => placesOf(each).length === 0);
  expect([...ids(placeless), "getErrorType"].sort()).toEqual(Object.keys(OF_NO_PROJECT));
});

for (const operation of operations) {
  const [id, permission, places] = [idOf(operation), permissionOf(operation), placesOf(operation)];
  const [first = "", ...others] = places;
  describe(`${operation.method} ${operation.template}`, () => {
    if (!isPublic(operation)) {
      test("a caller without a valid credential is answered 401 with the accepted schemes", async () => {
        for (const example of await examplesOfOne(api, owner, operation)) {
          for (const [why, headers] of Object.entries(credentials)) {
            const answer = await send(example, { userId: "", headers });
            expect([answer.status, answer.body.slug], why).toEqual([401, "unauthorized"]);
            expect(answer.headers.get("www-authenticate"), why).toContain("Bearer");
          }
        }
      });
    }

    if (permission !== undefined) {
      test("a member with all permissions but the one that it needs is answered 403", async () => {
        const caller = await keyWith(
          Object.keys(PERMISSIONS).filter((name) => name !== permission),
        );
        for (const example of await examplesOfOne(api, owner, operation)) {
          const answer = await send(example, caller);
          expect([answer.status, answer.body.slug]).toEqual([403, "permission-denied"]);
        }
      });
    }

    if (takesSecret(operation)) {
      test("a caller of another project is answered 401", async () => {
        for (const example of await examplesOfOne(api, owner, operation)) {
          for (const { why, caller } of foreigners) {
            expect((await send(example, caller)).status, why).toBe(401);
          }
        }
      });
    } else if (!(id in OF_NO_PROJECT)) {
      test("a caller of another project is answered 404, exactly as for what does not exist", async () => {
        const none = first === PROJECT ? "no-such-project" : randomUUID();
        await expectHidden(operation, { [first]: none }, foreigners);
      });
    }

    if (first === PROJECT && others.length > 0 && id !== "putMember") {
      test("in another project of the caller is answered 404, as for what does not exist", async () => {
        const elsewhere = { [PROJECT]: own.slug };
        const none = Object.fromEntries(others.map((name) => [name, randomUUID()]));
        const callers = [{ why: "a member of both", caller: owner }];
        await expectHidden(operation, { ...none, ...elsewhere }, callers, elsewhere);
      });
    }

    test("the examples of the document succeed with the permission that it names", async () => {
      const scopes = permission === undefined ? [] : [permission, ...namedScopes(operation)];
      const caller = permission === undefined ? owner : await keyWith(scopes);
      for (const example of await examplesOfOne(api, owner, operation)) {
        const answer = await send(example, caller);
        expect(answer.status, answer.text.slice(0, 300)).toBeLessThan(300);
      }
    });
  });
}
