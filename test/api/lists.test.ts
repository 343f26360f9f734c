import { describe, expect, test } from "bun:test";
import { PAGE_DEFAULT } from "../../src/domain/limits.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import type { Json } from "../../support/api/openapi.ts";
import { addWebhook } from "../../support/webhooks.ts";
import { addDemo, operationsOf } from "./operation-examples.ts";

/** Lists without pages, with the reason. */
const WHOLE: Readonly<Record<string, string>> = {
  listEmbedders: "a configuration has few",
  listFields: "a scope has few",
  listInvitations: "the newest are listed",
};

const api = await sharedApi();
const { sql } = api;
const { owner, project } = await addDemo(api);
const other = await api.project(owner);
/** An environment without files in both. */
const EMPTY = "many-0";
for (const name of ["production", EMPTY]) await addEnvironment(sql, other, name);

/** Values of parameters that make another list of one without them. */
const OTHERS: Readonly<Record<string, string>> = {
  environment: EMPTY,
  release: EMPTY,
  base_environment: "production",
  path_prefix: "many",
  filter: '{"path":"many-1"}',
  from: "2020-01-01T00:00:00Z",
  to: "2999-01-01T00:00:00Z",
};
/** Callers who have other lists where no project is named. */
const others = [await api.user(), await api.key(owner, { project })];

/** Fills every list with more than it has by default, most of it with the same in all but what breaks ties. */
async function fill(): Promise<void> {
  const { id } = project;
  const [at, many] = ["2026-01-01T00:00:00.123457Z", PAGE_DEFAULT];
  await sql`INSERT INTO environments (id, project_id, name)
    SELECT gen_random_uuid(), ${id}, 'many-' || i FROM generate_series(0, ${many}::integer) i`;
  await sql`INSERT INTO releases (id, project_id, name, created_at)
    SELECT gen_random_uuid(), ${id}, 'many-' || i, ${at} FROM generate_series(0, ${many}::integer) i`;
  await sql`INSERT INTO api_keys (id, user_id, name, key_prefix, key_hash)
    SELECT gen_random_uuid(), ${owner.userId}, 'k', 'tsr_many' || i, sha256(i::text::bytea)
    FROM generate_series(0, ${many}::integer) i`;
  await sql`
    WITH made AS (INSERT INTO users (id)
      SELECT gen_random_uuid() FROM generate_series(0, ${many}::integer) RETURNING id)
    INSERT INTO memberships (project_id, user_id, role) SELECT ${id}, id, 'member' FROM made`;
  await sql`
    WITH made AS (INSERT INTO projects (id, slug, name)
      SELECT gen_random_uuid(), 'many-' || i, 'Many' FROM generate_series(0, ${many}::integer) i
      RETURNING id)
    INSERT INTO memberships (project_id, user_id, role) SELECT id, ${owner.userId}, 'owner' FROM made`;
  const names = Array.from({ length: many + 1 }, (_, i) => `many-${i}`);
  await importsOf(api, owner).report(
    project,
    names.map((path) => ({
      record: "file",
      path,
      content: path,
      environments: ["production"],
      chunks: [{ content: path }, { content: "more" }],
    })),
  );
  for (const webhook of names) await addWebhook(sql, project, { name: webhook });
  const { path, headers } = await addWebhook(sql, project);
  for (const name of names) {
    expect((await api.send("POST", path, { headers, json: { name } })).status).toBe(200);
  }
  await sql`UPDATE webhook_events SET received_at = ${at} WHERE project_id = ${id}`;
}

await fill();

const lists = (await operationsOf(api)).filter(
  ({ method, operation }) => method === "GET" && /^list|^compare/.test(operation.operationId),
);
const contract = await api.contract();
const parametersOf = ({ parameters }: Json): string[] =>
  parameters.map((parameter: Json) => contract.resolved(parameter).name);
const takesCursor = ({ operation }: (typeof lists)[number]) =>
  parametersOf(operation).includes("cursor");

test("every list has pages, but for those named here", () => {
  const whole = lists.filter((each) => !takesCursor(each));
  expect(whole.map(({ operation }) => operation.operationId).sort()).toEqual(Object.keys(WHOLE));
});

for (const { operation, template } of lists.filter(takesCursor)) {
  const reference = (slug: string) => template.replace("{project_reference}", slug);
  const sides = operation.operationId === "compareScopes" ? [`base_environment=${EMPTY}`] : [];
  const read = async (path: string): Promise<Json> => {
    const { status, body, text } = await api.get(path, owner);
    expect(status, text).toBe(200);
    return body;
  };
  const at = (...query: string[]) => `${reference(project.slug)}?${[...sides, ...query].join("&")}`;
  /** The pages from one on, by a link of each. */
  const follow = async (from: string, link: "next" | "prev"): Promise<Json[]> => {
    const pages: Json[] = [];
    for (let path: string | null = from; path !== null; path = pages.at(-1).page_info[link]) {
      pages.push(await read(path));
    }
    return pages;
  };
  const refusal = async (path: string, as: Caller = owner) => {
    const { status, body } = await api.get(path, as);
    return [status, body.slug, body.errors?.[0]?.field];
  };

  describe(`GET ${template}`, () => {
    test("pages of any size list everything once and in the same order, forwards and backwards", async () => {
      const [whole = []] = (await follow(at("limit=100"), "next")).map(({ data }) => data);
      expect(whole.length).toBeGreaterThan(PAGE_DEFAULT);
      for (const limit of [PAGE_DEFAULT / 2 + 1, whole.length]) {
        const pages = await follow(at(`limit=${limit}`), "next");
        expect(pages.flatMap(({ data }) => data).slice(0, whole.length)).toEqual(whole);
        const last = pages.at(-1).page_info;
        expect([pages[0].page_info.first, pages[0].page_info.prev]).toEqual([null, null]);
        if (last.prev === null) continue;
        const back = (await follow(last.prev, "prev")).map(({ data }) => data);
        expect(back.toReversed()).toEqual(pages.slice(0, -1).map(({ data }) => data));
        expect((await read(last.first)).data).toEqual(pages[0].data);
      }
    });

    test("a page has the default size without a limit, and a cursor alone goes on with it", async () => {
      const { data, page_info } = await read(at());
      expect(data).toHaveLength(PAGE_DEFAULT);
      expect(page_info.next).toContain(`limit=${PAGE_DEFAULT}`);
      const alone = page_info.next.replace(`limit=${PAGE_DEFAULT}&`, "");
      expect((await read(alone)).data).toEqual((await read(page_info.next)).data);
    });

    test("a limit that is not a whole number from 1 to 100 is refused by name", async () => {
      for (const limit of ["0", "101", "-1", "1.5", "ten", "", "1e1", "%2050"]) {
        expect(await refusal(at(`limit=${limit}`))).toEqual([400, "validation-failed", "limit"]);
      }
    });

    test("a cursor that is malformed, modified, or of another limit or project is refused", async () => {
      const { next } = (await read(at("limit=2"))).page_info;
      const cursor = new URLSearchParams(next.split("?")[1]).get("cursor") as string;
      const odd = ["", "x", "%00", "a".repeat(13_335), `${cursor}=`, `${cursor}A`, ` ${cursor}`];
      odd.push((cursor.startsWith("A") ? "B" : "A") + cursor.slice(1));
      const paths = odd.map((each) => at(`limit=2&cursor=${each}`));
      paths.push(next.replace("limit=2", "limit=3"));
      if (template.includes("{project_reference}"))
        paths.push(next.replace(project.slug, other.slug));
      for (const path of paths) {
        expect((await refusal(path)).slice(0, 2), path).toEqual([400, "invalid-cursor"]);
      }
    });

    test("a cursor is bound to its parameters, and to its caller where no project is named", async () => {
      const { next } = (await read(at("limit=2"))).page_info;
      const having = (name: string, value: string) => {
        const url = new URL(next, api.url);
        url.searchParams.set(name, value);
        return url.pathname + url.search;
      };
      for (const [name, value] of Object.entries(OTHERS)) {
        if (!parametersOf(operation).includes(name)) continue;
        const path = having(name, value);
        expect((await refusal(path)).slice(0, 2), path).toEqual([400, "invalid-cursor"]);
        if (name === "environment") {
          expect((await read(having(name, "production"))).data).toEqual((await read(next)).data);
        }
      }
      if (template.includes("{project_reference}")) return;
      for (const as of others) {
        expect((await refusal(next, as)).slice(0, 2)).toEqual([400, "invalid-cursor"]);
      }
    });
  });
}
