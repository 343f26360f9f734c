import { expect, test } from "bun:test";
import { base64Of } from "../../../src/domain/vector.ts";
import { addEnvironment } from "../../../support/accounts.ts";
import { type Answer, type Caller, sharedApi, type TestProject } from "../../../support/api/api.ts";
import { importsOf } from "../../../support/api/imports.ts";
import { randomVector } from "../../../support/api/versions.ts";
import { until } from "../../../support/until.ts";
import { hostileGlobs } from "../../unit/domain/filter/filters.ts";

const FILES = 60;
const LONG = "a".repeat(200_000);

const api = await sharedApi();

/** A user with a project of files whose chunks have this text in their metadata. */
async function ownerOf(files: number, long: string) {
  const { owner, project } = await api.ownedProject();
  await addEnvironment(api.sql, project);
  const { report } = importsOf(api, owner);
  for (let i = 0; i < files; i++) {
    // Equal texts would be compared once.
    const chunk = { content: `Rivers ${i}.`, metadata: { long: `${long}${i}` } };
    await report(project, [
      {
        record: "file",
        path: `${i}.md`,
        content: `Rivers ${i}.`,
        environments: ["production"],
        chunks: [{ ...chunk, embedding: base64Of(randomVector(768, i + 1)) }],
      },
    ]);
  }
  const ask = (json: object, path = "retrieve", as: Caller = owner, of: TestProject = project) =>
    api.post(`/projects/${of.slug}/${path}`, { query: "rivers", ...json }, as);
  await until(
    "all files are found",
    async () => (await ask({ mode: "keyword" })).body.total_matches === files,
  );
  const read = (path: string, query: Record<string, string>) =>
    api.get(`/projects/${project.slug}/${path}?${new URLSearchParams(query)}`, owner);
  return Object.assign(ask, { read });
}

const greedy = await ownerOf(FILES, LONG);
const modest = await ownerOf(3, "short");

let made = 0;
/** A filter that nobody has asked for, which takes seconds to compare with the long texts. */
const dear = () => ({
  $or: hostileGlobs(60).map(({ $glob }) => ({
    "metadata.long": { $glob: `${$glob.slice(8)}${made++}` },
  })),
});

test("filters that take too long are refused with a reason, while those of another user are answered", async () => {
  let isOver = false;
  const flood = Array.from({ length: 24 }, async (_, i) => {
    const answers: Answer[] = [];
    do
      answers.push(await greedy({ filter: dear() }, i % 2 === 0 ? "retrieve" : "knowledge/lookup"));
    while (!isOver);
    return answers;
  });
  for (let i = 0; i < 3; i++) {
    const filter = { path: { $glob: `*${i}.m*` } };
    // On a busy machine one may wait too long for its turn.
    await until(
      "the filter of the other user is answered",
      async () => (await modest({ filter })).status === 200,
    );
  }
  // Facets are counted where hits are found, so they do not wait for filters.
  const facets = { mode: "keyword", facets: ["path"] };
  for (const [who, ask] of Object.entries({ greedy, modest })) {
    await until(
      `facets of the ${who} user are answered`,
      async () => (await ask(facets)).status === 200,
    );
  }
  // Lists of files and of fields do.
  const files = { filter: JSON.stringify({ path: "1.md" }) };
  for (const [path, query] of [
    ["files", files],
    ["fields", {}],
  ] as const) {
    await until(`${path} of the flooding user are refused`, async () => {
      const { status, body } = await greedy.read(path, query);
      return status === 503 && body.slug === "overloaded";
    });
    await until(
      `${path} of the other user are answered`,
      async () => (await modest.read(path, query)).status === 200,
    );
  }
  isOver = true;
  for (const answer of (await Promise.all(flood)).flat()) {
    expect([answer.status, answer.body.slug]).toEqual([503, "overloaded"]);
    expect(answer.body.detail).toContain("filter");
    expect(answer.headers.get("retry-after")).toBe("1");
  }
  const filter = { path: { $in: ["1.md", "2.md"] } };
  await until(
    "the user who has flooded is answered again",
    async () => (await greedy({ filter })).status === 200,
  );
});

test("many lists of a thousand values are compared", async () => {
  const values = () => Array.from({ length: 1_000 }, () => `none-${made++}`);
  await Promise.all(
    Array.from({ length: 24 }, async () => {
      const filter = { path: { $in: ["7.md", ...values().slice(1)] } };
      // On a busy machine one may wait too long for its turn.
      await until(
        "the filter is answered",
        async () => (await greedy({ filter }, "knowledge/lookup")).status === 200,
      );
      const { body } = await greedy({ filter }, "knowledge/lookup");
      expect(body.total_matches).toBe(1);
    }),
  );
});
