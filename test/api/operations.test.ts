import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { generateKey } from "../../src/auth/key-format.ts";
import { PERMISSIONS } from "../../src/auth/principal.ts";
import { type Answer, type Caller, withoutRequestId } from "../../support/api/api.ts";
import { sharedBilling } from "../../support/api/billing.ts";
import type { Json } from "../../support/api/openapi.ts";
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
    "the secret of the webhook suffices; test/api/webhooks.test.ts has its other callers",
  getErrorType: "a problem links to it",
  openMcpStream: "has nothing to show",
};

/** Roles in a project, the least first. An operation that names none is for every member. */
const ROLES = ["member", "editor", "owner"] as const;
type Role = (typeof ROLES)[number];

const EXPIRED_SECONDS = 120;

const { api } = await sharedBilling();
const { owner, project } = await addDemo(api);
const operations = await operationsOf(api);
const contract = await api.contract();
const foreigners = await api.foreigners(project);
/** Another project of its owner, which has nothing. */
const own = await api.project(owner);
/** Members of the project, beside its owner. */
const members = { member: await api.user(), editor: await api.user(), owner: await api.user() };
for (const role of ROLES) await api.join(members[role], project, role);

// Reads of the index state compare two answers.
await api.untilIndexed(owner, "demo");

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

const isPublic = ({ operation }: DocumentedOperation) => operation.security.length === 0;
/** The answer to an example. One to a credential is kept by no cache that others share. */
async function send(example: Example, as: Caller): Promise<Answer> {
  const answer = await sendExample(api, as, example);
  if (isPublic(example)) return answer;
  expect(answer.headers.get("cache-control")).toMatch(/^private\b|^no-store$/);
  const names = answer.headers.get("vary")?.toLowerCase().split(/, */) ?? [];
  expect(names).toEqual(expect.arrayContaining(["authorization", "x-api-key"]));
  return answer;
}

/** Removes the project that an example creates. Other files of this process send the example, too. */
async function removeCreated({ body = "{}" }: Example): Promise<void> {
  const { slug } = JSON.parse(body);
  await api.send("DELETE", `/projects/${slug}?confirm=${slug}`, { as: owner });
}

const idOf = ({ operation }: DocumentedOperation): string => operation.operationId;
/** The permission that an operation needs; undefined if it needs none. */
const permissionOf = ({ operation }: DocumentedOperation) =>
  /Needs the permission `([\w.]+)`/.exec(operation.description ?? "")?.[1];
/** The least role with which an operation is allowed. */
function roleOf({ operation }: DocumentedOperation): Role {
  const [sentence, editor] =
    /needs the role `owner`( or `editor`)?/.exec(operation.description ?? "") ?? [];
  if (sentence === undefined) return "member";
  return editor === undefined ? "owner" : "editor";
}
/** The names of the parameters in its path. */
const placesOf = ({ template }: DocumentedOperation) =>
  [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
const parametersOf = ({ operation }: DocumentedOperation): Json[] =>
  operation.parameters.map((parameter: Json) => contract.resolved(parameter));

/** A key with these permissions. */
const keyWith = (scopes: readonly string[], user: Caller = owner) => api.key(user, { scopes });

/** The permissions that a body names, which its sender has to have. */
const namedScopes = ({ operation }: DocumentedOperation): string[] =>
  operation.requestBody?.content["application/json"]?.example.scopes ?? [];

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
/** When a server reported its indexes. */
const REPORTED = /(?<="recall_samples":.*)"updated_at":"[^"]+"/g;
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

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

    const role = roleOf(operation);
    if (role !== "member") {
      test(`a member without the role ${role} is answered 403`, async () => {
        for (const lesser of ROLES.slice(0, ROLES.indexOf(role))) {
          for (const example of await examplesOfOne(api, owner, operation)) {
            const answer = await send(example, members[lesser]);
            expect([answer.status, answer.body.slug], lesser).toEqual([403, "permission-denied"]);
          }
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

    if (operation.method === "GET" && places.length > 0) {
      test("ids in its path may be in either case, and that of the project stands for its slug", async () => {
        for (const plain of await examplesOfOne(api, owner, operation)) {
          const [path = ""] = plain.path.replace("/demo", `/${project.id}`).split("?");
          const upper = { ...plain, path: path.replaceAll(UUID, (id) => id.toUpperCase()) };
          const [answer, expected] = [
            await send(upper, owner),
            await send({ ...plain, path }, owner),
          ];
          expect(answer.status).toBe(expected.status);
          // Links repeat the path of the request, and servers report every few seconds.
          const comparable = ({ text }: Answer) => text.toLowerCase().replaceAll(REPORTED, "");
          expect(comparable(answer)).toBe(comparable(expected));
        }
      });
    }

    const parameters = parametersOf(operation);
    for (const { name, schema } of parameters.filter((parameter) => parameter.in === "path")) {
      // Files are created under any name.
      if (name === PROJECT || id === "putFile") continue;
      test(`a malformed ${name} is refused by name, or names nothing`, async () => {
        for (const example of await examplesOfOne(api, owner, operation, { [name]: "none" })) {
          const { status, body } = await send(example, owner);
          const refused = [400, name];
          const expected = schema.format === "uuid" ? [refused] : [refused, [404, undefined]];
          expect(expected).toContainEqual([status, body.errors?.[0]?.field]);
        }
      });
    }

    const isConditional = parameters.some((parameter) => parameter.name === "If-None-Match");
    if (operation.method === "GET" && isConditional) {
      test("a conditional read is answered 304 to its tag, in full to another, and 404 to a stranger", async () => {
        for (const example of await examplesOfOne(api, owner, operation)) {
          const having = (tag: string, as = owner) =>
            send({ ...example, headers: { ...example.headers, "If-None-Match": tag } }, as);
          const tag = (await send(example, owner)).headers.get("etag") as string;
          for (const header of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
            const answer = await having(header);
            expect([answer.status, answer.text, answer.headers.get("etag")]).toEqual([
              304,
              "",
              tag,
            ]);
          }
          expect((await having('"other"')).status).toBe(200);
          if (id in OF_NO_PROJECT) continue;
          for (const { why, caller } of foreigners) {
            for (const header of [tag, "*"]) {
              expect((await having(header, caller)).status, why).toBe(404);
            }
          }
        }
      });
    }

    test("the examples of the document succeed with the permission and the role that it names", async () => {
      const scopes = permission === undefined ? [] : [permission, ...namedScopes(operation)];
      const user = first === PROJECT ? members[role] : owner;
      const caller = permission === undefined ? user : await keyWith(scopes, user);
      for (const example of await examplesOfOne(api, owner, operation)) {
        if (id === "createProject") await removeCreated(example);
        const answer = await send(example, caller);
        expect(answer.status, answer.text.slice(0, 300)).toBeLessThan(300);
      }
    });
  });
}
