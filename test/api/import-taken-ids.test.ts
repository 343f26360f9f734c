import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { fileVersion } from "../../src/content/import/records/file-record.ts";
import { sortedJson } from "../../src/content/import/records/sorted-json.ts";
import { derivedId } from "../../src/domain/uuid.ts";
import { sharedApi, type TestProject } from "../../support/api/api.ts";
import {
  allChanged,
  allUnchanged,
  file,
  importsOf,
  PRODUCTION,
} from "../../support/api/imports.ts";

const api = await sharedApi();
const { sql } = api;
const attacker = await api.user();
const victim = await api.user();
const attack = importsOf(api, attacker);
const { post, report, working } = importsOf(api, victim);

/** A project of each, where the attacker's environment is ready. */
async function projects(): Promise<[theirs: TestProject, mine: TestProject]> {
  const theirs = await api.project(victim);
  const mine = await api.project(attacker);
  await attack.report(mine, [PRODUCTION]);
  return [theirs, mine];
}

async function everythingOf(project: TestProject): Promise<string> {
  const tables = [
    "files",
    "file_versions",
    "releases",
    "branches",
    "environments",
    "conversations",
  ];
  const rows = tables.map((table) =>
    sql.unsafe(`SELECT to_jsonb(t) AS row FROM ${table} t WHERE project_id = $1 ORDER BY id`, [
      project.id,
    ]),
  );
  return JSON.stringify(await Promise.all(rows));
}

/** What the victim imports, which another can foresee. */
const lines = [
  PRODUCTION,
  file("guide.md", { releases: ["v1", "v2"] }),
  file("keyed.md", { version_key: "1", releases: ["v1"] }),
  { record: "release", name: "v3", environment: "production" },
  { record: "branch", name: "main" },
  { record: "conversation", title: "Welcome", created_by: "bot" },
];

/** The records of another project that take the ids which the victim's records derive. */
function squats({ id }: TestProject): object[] {
  const idOf = (kind: string, name: string) => derivedId(kind, id, name);
  const versions = lines.slice(1, 3).map((line) => {
    const record = { ...line, record: "file", project: id } as unknown as Parameters<
      typeof fileVersion
    >[0];
    const { path, versionKey, fingerprint } = fileVersion(record);
    return derivedId("file_version", idOf("file", path), `${versionKey}\n${fingerprint}`);
  });
  const conversation = sortedJson({ record: "conversation", title: "Welcome", created_by: "bot" });
  const first = derivedId("conversation", id, conversation);
  return [
    file("squat-0.md", { id: idOf("file", "guide.md"), version_id: versions[0] }),
    file("squat-1.md", { id: idOf("file", "keyed.md"), version_id: versions[1] }),
    file("squat-2.md", { id: idOf("file", "later.md") }),
    ...["v1", "v2", "v3"].map((name) => ({
      record: "release",
      name: `squat-${name}`,
      id: idOf("release", name),
    })),
    { record: "branch", name: "squat", id: idOf("branch", "main") },
    { record: "environment", name: "squat", id: idOf("environment", "production") },
    { record: "conversation", title: "squat", created_by: "x", id: first },
  ];
}

test("the ids that are taken below are those that records derive", async () => {
  const [theirs] = await projects();
  await report(theirs, [...lines, file("later.md")]);
  const stored = await everythingOf(theirs);
  for (const { id, version_id: version } of squats(theirs) as {
    id: string;
    version_id?: string;
  }[]) {
    expect(stored).toContain(id);
    if (version !== undefined) expect(stored).toContain(version);
  }
});

describe("a tenant whose rows have the ids that records of another project derive", () => {
  test("keeps no record of that project from being stored, and no repetition from finding it", async () => {
    const [theirs, mine] = await projects();
    const taken = squats(theirs);
    expect(await attack.report(mine, taken)).toEqual(allChanged(taken.length));
    const before = await everythingOf(mine);

    expect(await report(theirs, lines)).toEqual(allChanged(lines.length));
    expect(await working(theirs)).toEqual(["guide.md", "keyed.md"]);
    const releases = await sql<{ name: string; files: number }[]>`
      SELECT name, (SELECT count(*)::integer FROM release_files f WHERE f.release_id = r.id) AS files
      FROM releases r WHERE project_id = ${theirs.id} ORDER BY name`;
    expect([...releases]).toEqual([
      { name: "v1", files: 2 },
      { name: "v2", files: 1 },
      { name: "v3", files: 2 },
    ]);
    expect(await report(theirs, lines)).toEqual(allUnchanged(lines.length));
    expect(await report(theirs, lines, { strict: true })).toEqual(allUnchanged(lines.length));
    expect(await everythingOf(mine)).toBe(before);
  });

  test("changes neither what a version key stands for, nor that contents of another are refused", async () => {
    const [theirs, mine] = await projects();
    await attack.report(mine, squats(theirs));
    const keyed = { version_key: "1", environments: [], releases: [] };
    await report(theirs, [file("keyed.md", keyed)]);
    expect(await report(theirs, [file("keyed.md", keyed)])).toMatchObject(allUnchanged(1));
    const { errors } = await report(theirs, [file("keyed.md", { ...keyed, content: "other" })]);
    expect(errors).toEqual([
      { line: 1, message: "version_key: already names a version of this file with other contents" },
    ]);
  });

  test("does so no more when it takes the ids while the other imports", async () => {
    const [theirs, mine] = await projects();
    const answers = await Promise.all([
      attack.post(mine, squats(theirs)),
      post(theirs, [...lines, file("later.md")]),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]?.body).toMatchObject({ refused: 0 });
    expect(await working(theirs)).toEqual(["guide.md", "keyed.md", "later.md"]);
    expect(await report(theirs, lines)).toEqual(allUnchanged(lines.length));
  });

  test("cannot take over rows that exist, and an id that was given is not replaced", async () => {
    const [theirs, mine] = await projects();
    const id = randomUUID();
    const version = randomUUID();
    await report(theirs, [PRODUCTION, file("a.md", { id, version_id: version })]);
    const before = await everythingOf(theirs);
    const { errors } = await attack.report(mine, [
      file("mine.md", { id }),
      file("mine.md", { version_id: version }),
    ]);
    expect(errors).toEqual([
      { line: 1, message: "id: belongs to another file" },
      { line: 2, message: "version_id: belongs to another version" },
    ]);
    expect(await everythingOf(theirs)).toBe(before);
  });
});
