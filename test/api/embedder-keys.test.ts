import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startApiProcess } from "../../support/api/api.ts";
import { importsOf } from "../../support/api/imports.ts";
import { type EmbeddingRequest, startEmbeddingEndpoint } from "../../support/embedding-endpoint.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { callCommand } from "../../support/processes/command.ts";
import { until } from "../../support/until.ts";

/** What nobody may see, by where it is configured. */
const SECRETS = {
  key: "sk-the-key-of-the-endpoint",
  password: "the-password-in-its-address",
  importKey: "sk-the-key-of-imports",
};
const endpoint = startEmbeddingEndpoint();
const url = endpoint.url.replace("http://", `http://operator:${SECRETS.password}@`);
const env = {
  EMBEDDERS: JSON.stringify({
    model: { url, model: "m", dimension: 768, api_key_env: "MODEL_KEY" },
    gone: {
      url: `http://operator:${SECRETS.password}@127.0.0.1:9/v1`,
      model: "m",
      dimension: 768,
      api_key_env: "MODEL_KEY",
    },
  }),
  MODEL_KEY: SECRETS.key,
  LOG_LEVEL: "trace",
};
const keyFile = join(temporaryFolder("key"), "key");
writeFileSync(keyFile, SECRETS.importKey);
const keyed = ["--embed-model", "m", "--embed-key-file", keyFile];
const everything = Object.values(SECRETS).join(" ");

/** What an endpoint may answer that repeats all it knows. */
const ANSWERS: Readonly<Record<string, (request: EmbeddingRequest) => Response>> = {
  "a refusal of the key": () => new Response(everything, { status: 401 }),
  "a refusal of the text": () => Response.json({ error: everything }, { status: 400 }),
  "a fault": () => new Response(everything, { status: 500 }),
  "a limit": () => new Response(everything, { status: 429, headers: { "retry-after": "0" } }),
  "no JSON": () => new Response(everything),
  "another form": () => Response.json({ data: everything }),
  "a redirect": () => new Response(null, { status: 302, headers: { location: `/${everything}` } }),
};

test("keys and addresses of embedders appear in no answer, log, metric, audit entry or command, whatever endpoints answer", async () => {
  const api = await startApiProcess({ env });
  const owner = await api.user();
  const shown: string[] = [];
  const projects: { slug: string; id: string }[] = [];
  for (const embedder of ["model", "gone"]) {
    const slug = `p-${embedder}`;
    const { body } = await api.post("/projects", { name: "P", slug, embedder }, owner);
    projects.push(body);
  }
  let n = 0;
  for (const answer of Object.values(ANSWERS)) {
    endpoint.instead = answer;
    const path = `f${++n}.md`;
    for (const project of projects) {
      const record = { record: "file", path, content: `Text ${n}.`, environments: ["production"] };
      await importsOf(api, owner).report(project as never, [record]);
      const asked = { query: `text ${n}`, mode: "semantic" };
      shown.push((await api.post(`/projects/${project.slug}/retrieve`, asked, owner)).text);
    }
  }
  await until("the service says that files wait", () =>
    api.server.logs().includes("files wait for their embeddings"),
  );
  for (const { slug } of projects) {
    const paths = ["", "/index-state", "/audit", "/files?limit=100"];
    for (const path of paths) shown.push((await api.get(`/projects/${slug}${path}`, owner)).text);
  }
  for (const path of ["/metrics", "/readyz", "/docs/json"]) {
    shown.push(await (await fetch(`${api.url}${path}`)).text());
  }
  const commands = [
    ["doctor"],
    ["models", "test", "a text", "--embedder", "model"],
    ["models", "test", "a text", "--embedder", "gone"],
    ["embed", "a text", "--embed-url", endpoint.url, ...keyed],
    ["embed", "a text", "--embed-url", "http://127.0.0.1:9", ...keyed],
  ];
  for (const status of [401, 200]) {
    for (const args of commands) {
      // An endpoint can repeat no more than it is told.
      const known = args[0] === "embed" ? SECRETS.importKey : everything;
      endpoint.instead = () => new Response(known, { status });
      const io = { env: { ...env, DATABASE_URL: api.databaseUrl } };
      const result = await callCommand(args, io);
      expect(result.status, args.join(" ")).not.toBe(0);
      shown.push(result.stdout, result.stderr);
    }
  }
  for (const table of ["embedding_failures", "audit_log", "projects"]) {
    const rows = await api.sql.unsafe(`SELECT row_to_json(t)::text AS row FROM ${table} t`);
    shown.push(...rows.map((row) => row["row"]));
  }
  shown.push(api.server.logs());
  for (const secret of Object.values(SECRETS)) {
    expect(shown.filter((text) => text.includes(secret))).toEqual([]);
  }
  // What was looked at is not empty.
  expect(shown.filter((text) => text.includes("the embedder")).length).toBeGreaterThan(10);
});
