import { describe, expect, test } from "bun:test";
import { purgeFiles } from "../../src/content/projects/contents.ts";
import { setQuotas } from "../../src/content/projects/quota.ts";
import { addEnvironment } from "../../support/accounts.ts";
import { type Answer, sharedApi, type TestProject } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { callCommand } from "../../support/processes/command.ts";
import { countedIn } from "../../support/quotas.ts";

const api = await sharedApi();
const owner = await api.user();
const { post } = importsOf(api, owner);
const fileOf = (path: string, content = path, chunks = 0) => ({
  record: "file",
  path,
  environments: ["production"],
  content,
  chunks: Array.from({ length: chunks }, (_, i) => ({ content: `chunk ${i}` })),
});

const quota = async ({ slug }: TestProject, ...options: string[]) => {
  const args = ["projects", "quota", slug, ...options];
  return await callCommand(args, { env: { DATABASE_URL: api.databaseUrl } });
};

async function limited(limits: Parameters<typeof setQuotas>[2]): Promise<TestProject> {
  const project = await api.project(owner);
  await addEnvironment(api.sql, project);
  if (Object.keys(limits).length > 0) await setQuotas(api.sql, project.id, limits);
  return project;
}

const put = (project: TestProject, path: string, body: string) =>
  api.putText(owner, project, path, body);

const counted = ({ id }: TestProject) => countedIn(api.sql, id);

const refusal = ({ status, body }: Answer) => [status, body.slug, body.detail];

describe("a quota of a project", () => {
  test("refuses a file that would exceed it, names it, and stores nothing", async () => {
    for (const [name, fits, exceeds] of [
      ["files", ["a.md", "12"], ["b.md", ""]],
      ["bytes", ["a.md", "ä"], ["b.md", ""]],
      ["chunks", ["a.md", "# A\n\ntext\n\n# B\n\ntext"], ["b.md", "c"]],
    ] as const) {
      const project = await limited({});
      expect((await put(project, fits[0], fits[1])).status).toBe(201);
      await setQuotas(api.sql, project.id, { [name]: (await counted(project))[name] });
      const before = await counted(project);
      const [status, slug, detail] = refusal(await put(project, exceeds[0], exceeds[1]));
      expect([status, slug]).toEqual([409, "quota-exceeded"]);
      expect(detail).toMatch(new RegExp(`^The project may store at most \\d+ ${name}, and would`));
      expect(await counted(project)).toEqual(before);
      expect((await put(project, fits[0], fits[1])).status).toBe(200);
    }
  });

  test("refuses an import that would exceed it as a whole, whether it is strict or not", async () => {
    const project = await limited({ files: 2 });
    const lines = ["a.md", "b.md", "c.md"].map((path) => fileOf(path));
    for (const strict of [false, true]) {
      const answer = await post(project, lines, { strict });
      expect(refusal(answer)).toEqual([
        ...[409, "quota-exceeded"],
        "The project may store at most 2 files, and would store 3.",
      ]);
      expect(await counted(project)).toMatchObject({ files: 0, chunks: 0 });
    }
    const { status, body } = await post(project, [...lines.slice(0, 2), "nonsense"]);
    expect([status, body.changed, body.refused]).toEqual([200, 2, 1]);
    expect(await counted(project)).toMatchObject({ files: 2, chunks: 0 });
  });

  test("holds when many write at the same time", async () => {
    const project = await limited({ files: 3 });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => put(project, `${i}.md`, "text")),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(5);
    expect((await counted(project)).files).toBe(3);
  });

  test("counts versions that no scope holds, and lets files be removed", async () => {
    const project = await limited({});
    await put(project, "a.md", "12345");
    await put(project, "a.md", "67890");
    await setQuotas(api.sql, project.id, { bytes: (await counted(project)).bytes });
    expect((await put(project, "a.md", "x")).status).toBe(409);
    expect((await put(project, "a.md", "12345")).status).toBe(200);
    const at = `/projects/${project.slug}/files/a.md`;
    expect((await api.send("DELETE", at, { as: owner })).status).toBe(204);
  });

  test("is exact after files were deleted or stored without it", async () => {
    const project = await limited({ files: 3 });
    const { id } = project;
    for (const path of ["a.md", "b.md", "c.md"]) await put(project, path, "text");
    const attempt = async (path: string) => (await put(project, path, "text")).status;
    expect(await attempt("d.md")).toBe(409);
    await purgeFiles(api.sql, id, ["a.md"]);
    expect([await attempt("d.md"), await attempt("e.md")]).toEqual([201, 409]);

    await setQuotas(api.sql, id, { files: "none" });
    await put(project, "e.md", "text");
    await setQuotas(api.sql, id, { files: 5 });
    expect([await attempt("f.md"), await attempt("g.md")]).toEqual([201, 409]);

    // One statement and one transaction may add several files.
    await setQuotas(api.sql, id, { files: 7 });
    const lines = ["h.md", "i.md", "j.md"].map((path) => fileOf(path));
    expect((await post(project, lines)).status).toBe(409);
    expect((await post(project, lines.slice(1))).status).toBe(200);
    expect((await counted(project)).files).toBe(7);
  });

  test("is printed and ended by the command that sets it, and does not touch what is stored", async () => {
    const project = await limited({ files: 5, chunks: 9 });
    await post(project, [fileOf("a.md", "ä", 2), fileOf("b.md")]);
    const lines = async (...options: string[]) =>
      (await quota(project, "--json", ...options)).stdout.trim().split("\n");
    const { bytes } = await counted(project);
    expect((await lines()).map((line) => JSON.parse(line))).toEqual([
      { quota: "files", used: 2, allowed: 5 },
      { quota: "bytes", used: bytes, allowed: null },
      { quota: "chunks", used: 2, allowed: 9 },
    ]);
    const [files] = await lines("--files", "1", "--chunks", "none");
    expect(JSON.parse(files as string)).toEqual({ quota: "files", used: 2, allowed: 1 });
    expect((await put(project, "b.md", "b.md")).status).toBe(200);
    expect((await put(project, "c.md", "c")).status).toBe(409);
    await lines("--files", "none");
    expect((await put(project, "c.md", "c")).status).toBe(201);
    expect((await quota(project, "--files", "-1")).status).toBe(2);
  });
});

const project = await limited({ files: 7 });
const path = `/projects/${project.slug}/quotas`;

describe("GET /projects/{project_reference}/quotas", () => {
  test("every member reads what is used and allowed, with null where nothing is limited", async () => {
    await put(project, "a.md", "ä");
    const member = await api.user();
    await api.join(member, project);
    const { status, body } = await api.get(path, member);
    const data = [
      { quota: "files", used: 1, allowed: 7 },
      { quota: "bytes", used: (await counted(project)).bytes, allowed: null },
      { quota: "chunks", used: 1, allowed: null },
    ];
    expect([status, body]).toEqual([200, { data }]);
  });
});
