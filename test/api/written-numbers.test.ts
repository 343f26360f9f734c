import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { type Caller, sharedApi } from "../../support/api/api.ts";
import { importsOf, PRODUCTION } from "../../support/api/imports.ts";
import { until } from "../../support/until.ts";
import { jsonObject, WRITTEN } from "../unit/domain/json/written-numbers.ts";

const api = await sharedApi();
const { owner: member, project } = await api.ownedProject();
const { report } = importsOf(api, member);

/** An object with every value, as a caller writes it. */
const documentOf = (values: readonly string[]) =>
  `{${values.map((value, i) => `"z${values.length - i}":${value}`).join(",")}}`;
/** Long integers that differ in the last digit only. */
const [ID, NEXT_ID] = ["1234567890123456789", "1234567890123456788"];

const [conversation, message, request] = [randomUUID(), randomUUID(), randomUUID()];
const webhook = `written-${randomUUID()}`;

/** Records of all kinds with opaque JSON, each of which is the document. */
const records = (document: string) => [
  JSON.stringify(PRODUCTION).replace("}", `,"environment_variables":[${document}]}`),
  `{"record":"file","path":"a.md","environments":["production"],"content":"---\\nid: ${ID}\\n` +
    `ratio: 1.10\\nmask: 0x1fffffffffffff1\\n---\\n# Pelican\\n","chunks":[{"content":"Pelican","metadata":${document}}]}`,
  `{"record":"file","path":"b.md","environments":["production"],"content":"---\\nid: ${NEXT_ID}\\n` +
    `---\\n# Heron\\n","chunks":[{"content":"Heron","metadata":{"id":1.0}}]}`,
  `{"record":"conversation","id":"${conversation}","project_id":"${project.id}",` +
    `"created_by":"someone","metadata":${document}}`,
  `{"record":"message","id":"${message}","conversation_id":"${conversation}","seq":1,"role":"user",` +
    `"parts":[${document}],"token_usage":${document},"metadata":${document}}`,
  `{"record":"input_request","id":"${request}","conversation_id":"${conversation}",` +
    `"fields":[{"name":"any","x":${document}},{"name":"pick","type":"select","options":[${ID},1.50]}],` +
    `"recommendations":${document},"metadata":${document}}`,
  `{"record":"webhook_definition","id":"${webhook}","project":"${project.slug}","secret":"s"}`,
];
const DOCUMENT = documentOf(WRITTEN);
await report(project, records(DOCUMENT));

/** The text of an answer. */
async function textOf(path: string, as: Caller = member): Promise<string> {
  const { status, text } = await api.get(path, as);
  expect(status, text).toBe(200);
  return text;
}

const files = async (filter: string): Promise<string[]> => {
  const path = `/projects/${project.slug}/files?filter=${encodeURIComponent(filter)}`;
  const { data } = JSON.parse(await textOf(path)) as { data: { path: string }[] };
  return data.map((file) => file.path);
};
await until("the file is listed", async () => (await files('{"path":"b.md"}')).length === 1);

const deliver = (body: string, key: string) =>
  api.send("POST", `/webhooks/${webhook}`, {
    body,
    headers: {
      "content-type": "application/json",
      "idempotency-key": key,
      "x-service-webhook-secret": "s",
    },
  });
const answer = (values: string) =>
  api.send("POST", `/conversations/${conversation}/input-requests/${request}/responses`, {
    as: member,
    body: `{"values":${values}}`,
    headers: { "content-type": "application/json" },
  });

describe("opaque JSON", () => {
  test("every answer has the numbers of imported documents as they were written", async () => {
    const count = (text: string) => text.split(DOCUMENT).length - 1;
    expect(count(await textOf(`/projects/${project.slug}`))).toBe(1);
    expect(count(await textOf(`/conversations/${conversation}`))).toBe(1);
    expect(count(await textOf(`/conversations/${conversation}/messages/${message}`))).toBe(3);
    expect(count(await textOf(`/conversations/${conversation}/tree`))).toBe(3);
    const found = await api.post(
      `/projects/${project.slug}/retrieve`,
      { query: "pelican", mode: "keyword" },
      member,
    );
    expect(found.text).toContain(`"metadata":${DOCUMENT}`);
  });

  test("a second import is unchanged exactly where no number was written differently", async () => {
    const again = await report(project, records(DOCUMENT));
    expect([again.changed, again.refused]).toEqual([0, 0]);
    for (const [value, other] of [
      [ID, NEXT_ID],
      ["1.10", "1.1"],
      ["1E5", "100000"],
      ["1e400", "1e401"],
    ] as const) {
      const changed = records(DOCUMENT.replace(value, other)).filter((line) =>
        /"(?:conversation|message)"/.test(line),
      );
      const { changed: count } = await report(project, changed);
      expect(count, `${value} and ${other}`).toBe(2);
    }
    await report(project, records(DOCUMENT));
  });

  test("a delivery, its message and the answer to it have the numbers as they were sent", async () => {
    const first = await deliver(DOCUMENT, "one");
    expect(first.status, first.text).toBe(200);
    expect(first.text).toContain(`"payload":${DOCUMENT}`);
    const { conversation_id, message_id } = first.body;
    expect(await textOf(`/conversations/${conversation_id}/messages/${message_id}`)).toContain(
      DOCUMENT,
    );
    expect((await deliver(DOCUMENT, "one")).body.duplicate).toBe(true);
    const other = await deliver(DOCUMENT.replace(ID, NEXT_ID), "one");
    expect([other.status, other.body.idempotency.state]).toEqual([409, "payload_mismatch"]);
  });

  test("an answer to an input request has its numbers as they were sent, and another digit is a mismatch", async () => {
    const refused = await answer(`{"pick":${NEXT_ID}}`);
    expect(refused.status, refused.text).toBe(400);
    const values = `{"any":${DOCUMENT},"pick":${ID}}`;
    const first = await answer(values);
    expect(first.status, first.text).toBe(200);
    expect(first.text).toContain(`"values":${values}`);
    expect((await answer(values)).body.duplicate).toBe(true);
    const other = await answer(values.replace(ID, NEXT_ID));
    expect([other.status, other.body.idempotency.state]).toEqual([409, "payload_mismatch"]);
  });

  test("random documents come back as they were written, through imports and deliveries", async () => {
    const key = randomUUID();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(jsonObject, async (document) => {
        const id = randomUUID();
        await report(project, [
          `{"record":"conversation","id":"${id}","project_id":"${project.id}",` +
            `"created_by":"someone","metadata":${document}}`,
        ]);
        expect(await textOf(`/conversations/${id}`)).toContain(`"metadata":${document},`);
        const { status, text } = await deliver(document, `${key}-${runs++}`);
        expect(status, text).toBe(200);
        expect(text).toContain(`"payload":${document}}`);
      }),
      { numRuns: 10 },
    );
  });
});

describe("a filter", () => {
  test("numbers that differ in the last digit only are different to every operator", async () => {
    const cases = [
      [`{"frontmatter.id":${ID}}`, ["a.md"]],
      [`{"frontmatter.id":{"$eq":${NEXT_ID}}}`, ["b.md"]],
      [`{"frontmatter.id":{"$ne":${NEXT_ID}}}`, ["a.md"]],
      [`{"frontmatter.id":{"$in":[${ID},1]}}`, ["a.md"]],
      [`{"frontmatter.id":{"$nin":[${ID}]}}`, ["b.md"]],
      [`{"frontmatter.id":{"$gt":${NEXT_ID}}}`, ["a.md"]],
      [`{"frontmatter.id":{"$gte":${ID}}}`, ["a.md"]],
      [`{"frontmatter.id":{"$lt":${ID}}}`, ["b.md"]],
      [`{"frontmatter.id":{"$lte":${NEXT_ID}.0}}`, ["b.md"]],
      [`{"frontmatter.id":"${ID}"}`, []],
      [`{"frontmatter.mask":144115188075855857}`, ["a.md"]],
      [`{"frontmatter.mask":144115188075855856}`, []],
      [`{"metadata.id":{"$in":[1]}}`, ["b.md"]],
      [`{"metadata.z18":{"$gt":1234567890123456788.9}}`, ["a.md"]],
    ] as const;
    for (const [filter, paths] of cases) {
      expect(await files(filter), filter).toEqual([...paths]);
    }
  });

  test("the list of fields has numbers as they are written, each once for equal ones", async () => {
    const text = await textOf(`/projects/${project.slug}/fields`);
    for (const value of [ID, NEXT_ID, "1.10", "1e400"]) expect(text).toContain(`"value":${value},`);
  });
});
