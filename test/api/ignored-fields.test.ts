import { describe, expect, test } from "bun:test";
import { IGNORED_FIELD_MAX_CHARS, IGNORED_FIELDS_MAX } from "../../src/domain/limits.ts";
import { base64Of } from "../../src/domain/vector.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { sharedApi } from "../../support/api/api.ts";
import { randomVector } from "../../support/api/versions.ts";
import { ndjson } from "../../support/ndjson.ts";

const api = await sharedApi();
const { owner: member, project } = await api.ownedProject();
await addEnvironment(api.sql, project);
const path = `/projects/${project.slug}/environments/production/search`;
const query = { vector: base64Of(randomVector(768, 1)), dimension: 768 };

/** The header of a search with these further members of the body, given as JSON text. */
async function ignored(members: string): Promise<string | null> {
  const body = `${JSON.stringify(query).slice(0, -1)}${members === "" ? "" : `,${members}`}}`;
  const headers = { "content-type": "application/json" };
  const answer = await api.send("POST", path, { as: member, body, headers });
  expect(answer.status).toBe(200);
  return answer.headers.get("x-ignored-fields");
}

describe("X-Ignored-Fields of a vector search", () => {
  test("names unknown fields of the body once each, in their order, and is absent without any", async () => {
    expect(await ignored("")).toBeNull();
    expect(await ignored('"limit":3,"threshold":0.5')).toBeNull();
    expect(await ignored('"filters":{"a":[1]}')).toBe("filters");
    expect(await ignored('"top_k":3,"where":"x","fil":1,"where":null')).toBe("top_k,where,fil");
    expect(await ignored('"filter":{}')).toBeNull();
  });

  test("names at most ten fields", async () => {
    const names = Array.from({ length: IGNORED_FIELDS_MAX + 5 }, (_, i) => `field-${i}`);
    const members = names.map((name) => `"${name}":0`).join(",");
    expect(await ignored(members)).toBe(names.slice(0, IGNORED_FIELDS_MAX).join(","));
    // An object in JavaScript has its numbered members first.
    expect(await ignored(`${members},"2":1,"1":1`)).toBe(
      ["1", "2", ...names.slice(0, 8)].join(","),
    );
  });

  test("percent-encodes names that a header cannot show, and cuts long ones", async () => {
    expect(await ignored('"naïve":1,"a b":2,"c,d":3')).toBe("na%C3%AFve,a%20b,c%2Cd");
    expect(await ignored('"x\\r\\ny":1')).toBe("x%0D%0Ay");
    expect(await ignored(`"${"n".repeat(500)}":1`)).toBe("n".repeat(IGNORED_FIELD_MAX_CHARS));
    expect(await ignored('"\\ud800":1')).toBe("%EF%BF%BD");
  });
});

test("X-Ignored-Fields of a lookup names unknown fields of its body", async () => {
  const lookup = `/projects/${project.slug}/knowledge/lookup`;
  const header = async (body: object) => {
    const answer = await api.send("POST", lookup, { as: member, json: body });
    expect(answer.status).toBe(200);
    return answer.headers.get("x-ignored-fields");
  };
  expect(await header({ query: "hello" })).toBeNull();
  expect(await header({ q: "hello", environment: "nope" })).toBe("q,environment");
});

test("X-Ignored-Fields of an import names unknown fields of records, and warnings files of no scope", async () => {
  const { owner, project: own } = await api.ownedProject();
  const post = async (...records: object[]) => {
    const answer = await api.send("POST", `/projects/${own.slug}/import`, {
      as: owner,
      body: ndjson(records),
      headers: { "content-type": "application/x-ndjson" },
    });
    expect(answer.status).toBe(200);
    return { body: answer.body, ignored: answer.headers.get("x-ignored-fields") };
  };
  const file = { record: "file", path: "a.md", content: "a" };
  const odd = await post(
    { record: "environment", name: "production", domain: "x" },
    { ...file, enviroments: ["production"], chunks: [{ content: "a", colour: 1 }] },
  );
  expect(odd.ignored).toBe("environment.domain,file.enviroments,file.chunks.colour");
  const message =
    "1 file record names no environments and no releases, so no search finds the file";
  expect(odd.body.warnings).toEqual([{ line: 2, message }]);
  const even = await post({ ...file, path: "b.md", environments: ["production"] });
  expect(even.ignored).toBeNull();
  expect(even.body).not.toHaveProperty("warnings");
});
