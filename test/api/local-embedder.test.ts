import { describe, expect, test } from "bun:test";
import { startApi, type TestProject } from "../../support/api/api.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { changeModel, writeModel } from "../../support/model-folder.ts";
import { callCommand } from "../../support/processes/command.ts";
import { dataFolder } from "../../support/processes/embedded.ts";
import { needs } from "../../support/programs.ts";
import { until } from "../../support/until.ts";

needs("onnxruntime");

const model = writeModel(temporaryFolder("model"));
const brief = writeModel(temporaryFolder("model"));
const exchanged = writeModel(temporaryFolder("model"));
const embedders = {
  local: {
    onnx: model.folder,
    dimension: 32,
    query_prefix: "query ",
    document_prefix: "passage ",
  },
  brief: { onnx: brief.folder, idle_seconds: 1 },
  wrong: { onnx: model.folder, dimension: 31 },
  exchanged: { onnx: exchanged.folder },
  absent: { onnx: "multilingual-e5-small" },
};
const env = { DATA_DIR: dataFolder(), EMBEDDERS: JSON.stringify(embedders) };
let api = await startApi({ env });
const owner = await api.user();

async function projectOf(embedder: string): Promise<TestProject> {
  const json = { name: "P", slug: `p-${crypto.randomUUID()}`, embedder };
  const { status, body, text } = await api.post("/projects", json, owner);
  expect(status, text).toBe(201);
  return body as TestProject;
}

const put = (project: TestProject, path: string, body: string) =>
  api.putText(owner, project, path, body);

const ask = (project: TestProject, query: string) =>
  api.post(
    `/projects/${project.slug}/retrieve`,
    { query, mode: "semantic", limit: 3, threshold: 0 },
    owner,
  );

async function found(project: TestProject, query: string): Promise<string[]> {
  const { body } = await ask(project, query);
  const hits: { chunk: { file_path: string } }[] = body.data ?? [];
  return hits.map(({ chunk }) => chunk.file_path);
}

const state = async (project: TestProject) =>
  (await api.get(`/projects/${project.slug}/index-state`, owner)).body;

/** By which models the chunks of a project are embedded; null for those that wait. */
const fingerprints = async (project: TestProject): Promise<(string | null)[]> => {
  const rows = await api.sql`SELECT DISTINCT embedder FROM chunks WHERE project_id = ${project.id}`;
  return rows.map((row) => row["embedder"]);
};

/** The processes that run the model of a folder: children of this process, in which the service is. */
function processesOf(folder: string): number[] {
  const { stdout } = Bun.spawnSync(["pgrep", "-P", String(process.pid), "-f", folder]);
  return stdout.toString().split("\n").filter(Boolean).map(Number);
}

describe("a model in a process of the service", () => {
  test("finds files by their meaning, in its own dimension, and goes on after a restart with what it has", async () => {
    const project = await projectOf("local");
    await put(project, "cars.md", "# Repair\n\nRepair of an old automobile and its engine.");
    await put(project, "plants.md", "# Plants\n\nA red tomato in the garden.");
    await until("both files are embedded", async () => {
      const { body } = await ask(project, "vehicle");
      return body.data?.length === 2;
    });
    expect((await found(project, "vehicle"))[0]).toBe("cars.md");
    expect((await found(project, "tomato"))[0]).toBe("plants.md");
    const [row] = await api.sql<{ embedder: string; dimension: number }[]>`
      SELECT DISTINCT embedder, dimension FROM chunks WHERE project_id = ${project.id}`;
    expect(row?.embedder).toMatch(/^local:[\w.-]+@[0-9a-f]{16}:32$/);
    expect(row?.dimension).toBe(768);
    const before = await api.sql`SELECT id, embedding FROM chunks WHERE project_id = ${project.id}`;

    await api.stop();
    expect(processesOf(model.folder)).toEqual([]);
    api = await startApi({ env, beside: api });
    await until("the car is found after the restart", async () => {
      return (await found(project, "vehicle"))[0] === "cars.md";
    });
    const after = await api.sql`SELECT id, embedding FROM chunks WHERE project_id = ${project.id}`;
    expect(after.map((each) => ({ ...each }))).toEqual(before.map((each) => ({ ...each })));
  });

  test("runs once for queries and files, and is started again when it was killed", async () => {
    const project = await projectOf("local");
    await put(project, "a.md", "A physician in the hospital.");
    await until(
      "the first file is embedded and found",
      async () => (await found(project, "doctor"))[0] === "a.md",
    );
    const [pid, ...others] = processesOf(model.folder);
    expect(others).toEqual([]);
    process.kill(pid as number, "SIGKILL");
    await put(project, "b.md", "A movie and a ticket.");
    await until(
      "the file that came after the kill is found",
      async () => (await found(project, "film"))[0] === "b.md",
    );
    expect(processesOf(model.folder)).not.toContain(pid);
  });

  test("leaves the memory when it is idle, and comes back with the next question", async () => {
    const project = await projectOf("brief");
    await put(project, "a.md", "A rapid river.");
    await until("the file is embedded and found", async () => {
      return (await found(project, "quick"))[0] === "a.md";
    });
    await until("the process has ended", () => processesOf(brief.folder).length === 0);
    await until("the river is found again", async () => {
      return (await found(project, "fast"))[0] === "a.md";
    });
  });

  test("whose files are exchanged is noticed, and its vectors are never compared with those of the old one", async () => {
    const project = await projectOf("exchanged");
    for (const path of ["a.md", "b.md"]) await put(project, path, `A physician of ${path}.`);
    await until(
      "both files are embedded and found",
      async () => (await found(project, "doctor")).length === 2,
    );
    const release = { name: "v1", environment: "production" };
    expect((await api.post(`/projects/${project.slug}/releases`, release, owner)).status).toBe(201);
    const question = { query: "doctor", mode: "semantic", limit: 1, threshold: 0 };
    const first = await api.post(`/projects/${project.slug}/retrieve`, question, owner);
    const { next: cursor } = first.body.page_info;
    expect(cursor).toBeString();

    changeModel(exchanged.folder);
    for (const pid of processesOf(exchanged.folder)) process.kill(pid, "SIGKILL");
    await until("the exchange of the files is noticed", async () => {
      const { status, body } = await ask(project, "another question");
      return status === 503 && body.detail.includes("have changed: restart the service");
    });
    await put(project, "c.md", "A letter.");
    expect((await state(project)).embeddings_waiting).toBe(1);
    // Each embedder that a command tries has a process.
    const { wrong, exchanged: own } = embedders;
    const EMBEDDERS = JSON.stringify({ wrong, exchanged: own });
    const commandEnv = { env: { ...env, EMBEDDERS, DATABASE_URL: api.databaseUrl } };
    const doctor = await callCommand(["doctor"], commandEnv);
    expect(doctor.stdout).toMatch(/embedder exchanged +ok +embeds a text in \d+ ms, 32 dimensions/);
    expect(doctor.stdout).toMatch(/embeddings +warning .* whose model is exchanged:\S+ now/);
    expect(doctor.stdout).toMatch(/embedder wrong +failed .*and 31 are configured/);

    const before = await fingerprints(project);
    const rebuilt = ["embeddings", "rebuild", "--project", project.slug];
    expect((await callCommand(rebuilt, commandEnv)).status).toBe(0);
    const after = await fingerprints(project);
    expect([before.length, after.length]).toEqual([2, 1]);
    expect(before).not.toContain(after[0]);
    await until(
      "searches know that the embedder is another one",
      async () => (await ask(project, "doctor")).status === 409,
    );
    const page = { ...question, cursor };
    const old = await api.post(`/projects/${project.slug}/retrieve`, page, owner);
    expect(old.body.slug).toBe("invalid-cursor");

    await api.stop();
    api = await startApi({ env, beside: api });
    // The first questions may be answered before the model is loaded.
    await until("all files are found by the new model", async () => {
      const files = await found(project, "doctor");
      return files.sort().join() === "a.md,b.md,c.md";
    });
  });

  test("that is not on the machine is no embedder, and everything else works", async () => {
    const json = { name: "P", slug: "absent", embedder: "absent" };
    const { status, body } = await api.post("/projects", json, owner);
    expect(status).toBe(400);
    expect(body.errors).toEqual([
      { field: "embedder", message: "must be one of hashing, local, brief, wrong, exchanged" },
    ]);
  });
});
