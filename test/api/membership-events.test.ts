import { describe, expect, spyOn, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { addEnvironment } from "../../support/accounts.ts";
import {
  type Caller,
  startApi,
  type TestApi,
  type TestKey,
  type TestProject,
} from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { ndjson } from "../../support/ndjson.ts";
import { callCommand } from "../../support/processes/command.ts";
import { until } from "../../support/until.ts";

const PAGE = "docs/credentials.md";
const CHANNEL = "tessera_access";

const api = await startApi();
/** Another process of the service, whose caches only a notification clears. */
const beside = await startApi({ beside: api });
const { sql } = api;
const heard: string[] = [];
await sql.listen(CHANNEL, (payload) => heard.push(payload));

/** A user in a project, before and after an event. */
interface World {
  readonly owner: Caller;
  readonly ownerEmail: string;
  readonly project: TestProject;
  readonly user: Caller;
  readonly email: string;
  /** Bound to the project. */
  readonly key: TestKey;
  /** Reaches all projects of the user, and speaks for no token. */
  readonly free: TestKey;
  /** Somebody whom the user has invited. */
  readonly third: Caller;
}

type Act = (world: World) => Promise<unknown>;

const address = (name: string) => `${name}-${randomUUID()}@example.com`;
const memberPath = ({ project }: World, user: string) =>
  `/projects/${project.id}/members/${encodeURIComponent(user)}`;

async function send(as: Caller, method: string, path: string, json?: object): Promise<Json> {
  const answer = await api.send(method, path, { as, ...(json && { json }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

async function command(args: readonly string[], stdin = ""): Promise<void> {
  const result = await callCommand(args, { env: { DATABASE_URL: api.databaseUrl }, stdin });
  expect(result.status, result.stderr).toBe(0);
}

/** A token by which the issuer states an address now. */
const stating = (userId: string, claims: object) => api.token(userId, { ...claims });

/** The record of the project in which the user has a role. */
const projectRecord = ({ project, ownerEmail, email }: World, role: string) => ({
  record: "project",
  slug: project.slug,
  name: "A project",
  owner: ownerEmail,
  members: [{ user: email, role }],
});

/** Changes the role of a member, by every way in. */
const ROLE_BY_HTTP: Record<string, Act> = {
  "PUT …/members/{user}": (w) => send(w.owner, "PUT", memberPath(w, w.email), { role: "editor" }),
  "POST …/import": (w) => importsOf(api, w.owner).report(w.project, [projectRecord(w, "editor")]),
};
const ROLE_BY_COMMAND: Record<string, Act> = {
  "members add": (w) =>
    command(["members", "add", w.email, "--project", w.project.slug, "--role", "editor"]),
  import: (w) => command(["import", "-"], ndjson([projectRecord(w, "editor")])),
};

interface State {
  readonly role: string | null;
  /** Invitations of the user in the table. */
  readonly stored: number;
  /** Invitations that the user can accept: by `id`, by `address`. */
  readonly offered: readonly string[];
  /** True if the invitation that the user has made can be accepted. */
  readonly made: boolean;
}

type Check = (before: State, after: State) => void;
const KEPT = "unchanged";

const MEMBERSHIP: Record<string, Check> = {
  [KEPT]: (before, after) => expect(after.role).toBe(before.role),
  begins: (before, after) => {
    expect(before.role).toBeNull();
    expect(after.role).not.toBeNull();
  },
  "has the new role": (before, after) => {
    expect(before.role).not.toBeNull();
    expect(after.role).toBe("editor");
  },
  ends: (before, after) => {
    expect(before.role).not.toBeNull();
    expect(after.role).toBeNull();
  },
};
/** How both keys are answered by a lookup in the project. */
type Answers = readonly [bound: number, free: number];
/** Before an event and after it. */
const KEYS: Readonly<Record<string, readonly [Answers, Answers] | null>> = {
  [KEPT]: null,
  "reach the project": [
    [404, 404],
    [200, 200],
  ],
  "no longer reach the project": [
    [200, 200],
    [404, 404],
  ],
  "this one ends": [
    [200, 200],
    [401, 200],
  ],
  "end if they are bound to it": [
    [200, 200],
    [401, 404],
  ],
};
const offers = (stored: [number, number], before: string, after: string): Check => {
  return (was, is) => {
    expect([was.stored, is.stored]).toEqual(stored);
    expect([was.offered.join(), is.offered.join()]).toEqual([before, after]);
  };
};
const OFFERED: Record<string, Check> = {
  [KEPT]: (before, after) => {
    expect(after.stored).toBe(before.stored);
    expect(after.offered).toEqual(before.offered);
  },
  "a new one": offers([0, 1], "", "address"),
  end: (before, after) => {
    expect([before.stored, after.stored]).toEqual([2, 0]);
    expect(after.offered).toEqual([]);
  },
  "this one ends": offers([2, 1], "address,id", "id"),
  "those by the address are no longer the user's": offers([2, 2], "address,id", "id"),
};
const MADE: Record<string, Check> = {
  [KEPT]: (before, after) => expect(after.made).toBe(before.made),
  end: (before, after) => expect([before.made, after.made]).toEqual([true, false]),
};
const CLEARED = "cleared";
const CACHES = [CLEARED, "nothing to clear"];

interface Event {
  readonly event: string;
  /** What the user is in the project before. */
  readonly from: "stranger" | "invited" | "member" | "owner";
  readonly http: Readonly<Record<string, Act>>;
  readonly command: Readonly<Record<string, Act>>;
  /** Of the membership, the keys, the invitations of the user and those by the user, and the caches. */
  readonly effects: readonly [string, string, string, string, string];
}

const JOINED = ["begins", "reach the project", "end", KEPT, CLEARED] as const;
const OTHER_ADDRESS = [
  ...[KEPT, KEPT, "those by the address are no longer the user's", KEPT, "nothing to clear"],
] as unknown as Event["effects"];

/** Every event that changes who somebody is in a project, with all ways in which it happens. */
const EVENTS: readonly Event[] = [
  {
    event: "an owner invites the user",
    from: "stranger",
    http: {
      "PUT …/members/{user}": (w) =>
        send(w.owner, "PUT", memberPath(w, w.email), { role: "member" }),
    },
    command: {},
    effects: [KEPT, KEPT, "a new one", KEPT, "nothing to clear"],
  },
  {
    event: "the user accepts",
    from: "invited",
    http: {
      "PUT …/members/{user}": (w) =>
        send(w.user, "PUT", memberPath(w, w.email), { role: "member" }),
    },
    command: {},
    effects: JOINED,
  },
  {
    event: "the user is added",
    from: "invited",
    http: {},
    command: {
      "members add": (w) => command(["members", "add", w.email, "--project", w.project.slug]),
      "keys create --project": (w) =>
        command(["keys", "create", "--user", w.email, "--name", "k", "--project", w.project.slug]),
      import: (w) => command(["import", "-"], ndjson([projectRecord(w, "member")])),
    },
    effects: JOINED,
  },
  {
    event: "an owner withdraws an invitation",
    from: "invited",
    http: { "DELETE …/members/{user}": (w) => send(w.owner, "DELETE", memberPath(w, w.email)) },
    command: {},
    effects: [KEPT, KEPT, "this one ends", KEPT, "nothing to clear"],
  },
  {
    event: "the user declines",
    from: "invited",
    http: { "DELETE …/members/{user}": (w) => send(w.user, "DELETE", memberPath(w, w.email)) },
    command: {},
    effects: [KEPT, KEPT, "end", KEPT, "nothing to clear"],
  },
  {
    event: "the role of a member changes",
    from: "member",
    http: ROLE_BY_HTTP,
    command: ROLE_BY_COMMAND,
    effects: ["has the new role", KEPT, "end", KEPT, CLEARED],
  },
  {
    event: "an owner gets another role",
    from: "owner",
    http: ROLE_BY_HTTP,
    command: ROLE_BY_COMMAND,
    effects: ["has the new role", KEPT, "end", "end", CLEARED],
  },
  {
    event: "a member is removed",
    from: "owner",
    http: { "DELETE …/members/{user}": (w) => send(w.owner, "DELETE", memberPath(w, w.email)) },
    command: {
      "members remove": (w) =>
        command(["members", "remove", w.email, "--project", w.project.slug, "--yes"]),
    },
    effects: ["ends", "no longer reach the project", "end", "end", CLEARED],
  },
  {
    event: "a key is revoked",
    from: "owner",
    http: { "DELETE /api-keys/{id}": (w) => send(w.owner, "DELETE", `/api-keys/${w.key.id}`) },
    command: { "keys revoke": (w) => command(["keys", "revoke", w.key.id, "--yes"]) },
    effects: [KEPT, "this one ends", KEPT, KEPT, CLEARED],
  },
  {
    event: "the project is deleted",
    from: "owner",
    http: {
      "DELETE /projects/{ref}": ({ owner, project }) =>
        send(owner, "DELETE", `/projects/${project.id}?confirm=${project.slug}`),
    },
    command: {
      "projects delete": ({ project }) => command(["projects", "delete", project.slug, "--yes"]),
    },
    effects: ["ends", "end if they are bound to it", "end", "end", CLEARED],
  },
  {
    event: "a token has the address unverified",
    from: "invited",
    http: {
      "GET /invitations": async ({ user: { userId }, email }) =>
        send(await stating(userId, { email, email_verified: false }), "GET", "/invitations"),
    },
    command: {},
    effects: OTHER_ADDRESS,
  },
  {
    event: "a token has another address",
    from: "invited",
    http: {
      "GET /invitations": async ({ user: { userId } }) =>
        send(await stating(userId, { email: address("new") }), "GET", "/invitations"),
    },
    command: {},
    effects: OTHER_ADDRESS,
  },
  {
    event: "another user's token has the address",
    from: "invited",
    http: {
      "GET /invitations": async ({ email }) => {
        const other = await stating(randomUUID(), { email, email_verified: true });
        expect((await send(other, "GET", "/invitations")).data).toHaveLength(1);
      },
    },
    command: {},
    effects: OTHER_ADDRESS,
  },
];

/** The table of the page, from the events. */
function table(): string[] {
  const code = (acts: object) =>
    Object.keys(acts)
      .map((act) => `\`${act}\``)
      .join(", ") || "–";
  return [
    "| event | over HTTP | by command | membership | keys of the user | invitations of the user | invitations by the user | caches |",
    "|---|---|---|---|---|---|---|---|",
    ...EVENTS.map(({ event, http, command: commands, effects }) =>
      ["", event, code(http), code(commands), ...effects, ""].join(" | ").trim(),
    ),
  ];
}

/** A user who is in the project as `from` says, known by the address of a token, with open invitations. */
async function enter(from: Event["from"]): Promise<World> {
  const [ownerEmail, email] = [address("owner"), address("user")];
  const { owner, project } = await api.ownedProject({ email: ownerEmail });
  await addEnvironment(sql, project);
  const iat = Math.floor(Date.now() / 1_000) - 60;
  const user = await api.token(randomUUID(), { iat, email });
  await send(user, "GET", "/invitations");
  const third = await api.user();
  const [key, free] = [await api.key(user, { project }), await api.key(user)];
  if (from === "member" || from === "owner") await api.join(user, project, from);
  if (from !== "stranger") {
    // A member who was invited as well, as if the address had become known later.
    for (const invitee of [user.userId, email]) {
      await sql`INSERT INTO invitations (project_id, invitee, role, invited_by)
        VALUES (${project.id}, ${invitee}, 'member', ${owner.userId})`;
    }
  }
  const world = { owner, ownerEmail, project, user, email, key, free, third };
  if (from === "owner")
    await send(user, "PUT", memberPath(world, third.userId), { role: "member" });
  return world;
}

async function answersOf(of: TestApi, { project, key, free }: World): Promise<Answers> {
  const lookup = (as: Caller) => of.post(`/projects/${project.id}/knowledge/lookup`, {}, as);
  return [(await lookup(key)).status, (await lookup(free)).status];
}

async function observe(world: World): Promise<State> {
  const { owner, project, user, email, free, third } = world;
  const members = await api.get(`/projects/${project.id}/members`, owner);
  const member = members.body.data?.find(({ id }: Json) => id === user.userId);
  const own = await send(free, "GET", "/invitations");
  const [rows] = await sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM invitations
    WHERE project_id = ${project.id} AND invitee IN (${user.userId}, ${email})`;
  return {
    role: member?.role ?? null,
    stored: rows?.count ?? 0,
    offered: own.data.map((each: Json) => (each.user === email ? "address" : "id")).sort(),
    made: (await send(third, "GET", "/invitations")).data.length > 0,
  };
}

/** The notifications since the last call, all of which arrive before one that is sent now. */
async function takeHeard(): Promise<string[]> {
  const marker = randomUUID();
  await sql`SELECT pg_notify(${CHANNEL}, ${marker})`;
  await until("the notification that was sent last", () => heard.includes(marker));
  return heard.splice(0).filter((payload) => payload !== marker);
}

/** The notifications that an event has sent. Earlier ones have arrived before it begins. */
async function heardOf(event: () => Promise<unknown>): Promise<string[]> {
  await takeHeard();
  await event();
  return await takeHeard();
}

describe("who belongs to a project", () => {
  test(`is documented by the table of ${PAGE}`, async () => {
    const lines = (await Bun.file(PAGE).text()).split("\n");
    const begin = lines.findIndex((line) => line.startsWith("| event |"));
    const end = lines.findIndex((line, i) => i > begin && !line.startsWith("|"));
    expect(lines.slice(begin, end)).toEqual(table());
  });

  for (const { event, from, http, command: commands, effects } of EVENTS) {
    const [membership, keys, offered, made, caches] = effects;
    const checks = [MEMBERSHIP[membership], OFFERED[offered], MADE[made]];
    test.each(Object.entries({ ...http, ...commands }))(
      `${event}, by %s: as documented`,
      async (_, act) => {
        const world = await enter(from);
        const before = await observe(world);
        // While this clock stands still no cache expires, so that a notification has to clear them.
        using _clock = spyOn(performance, "now").mockReturnValue(performance.now());
        const known = await answersOf(api, world);
        expect(await answersOf(beside, world)).toEqual(known);
        const [answers, later] = KEYS[keys] ?? [known, known];
        expect(known).toEqual(answers);
        const notices = await heardOf(() => act(world));
        expect(CACHES).toContain(caches);
        expect(notices.length > 0).toBe(caches === CLEARED);
        for (const each of [api, beside]) {
          await until(`the keys are answered ${later}`, async () =>
            isDeepStrictEqual(await answersOf(each, world), later),
          );
        }
        const after = await observe(world);
        for (const check of checks) (check as Check)(before, after);
        // Members accept nothing, and nothing that has ended leads back into the project.
        if (after.role !== null) expect(after.offered).toEqual([]);
        const { user, third } = world;
        const again = (as: Caller) =>
          api.send("PUT", memberPath(world, as.userId), { as, json: { role: "member" } });
        if (after.role === null && after.stored === 0) {
          expect((await again(user)).body.slug).toBe("project-not-found");
        }
        if (!after.made) expect((await again(third)).body.slug).toBe("project-not-found");
      },
    );
  }
});
