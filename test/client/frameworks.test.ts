import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { sharedApi } from "../../support/api/api.ts";
import type { Json } from "../../support/api/openapi.ts";
import { onCleanup } from "../../support/cleanup.ts";
import { PROJECT_ROOT } from "../../support/processes/process.ts";
import { until } from "../../support/until.ts";

const KALE = "Kale survives frost, and tastes better after it.";

/** The page's examples for frameworks, as modules with the real packages. */
async function modulesOf(page: string): Promise<Json[]> {
  const folder = mkdtempSync(join(tmpdir(), "tessera-frameworks-"));
  onCleanup(async () => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "src"));
  symlinkSync(join(PROJECT_ROOT, "node_modules"), join(folder, "node_modules"));
  const text = readFileSync(join(PROJECT_ROOT, page), "utf8");
  const examples = [...text.matchAll(/^```typescript\n([\s\S]*?)^```$/gm)];
  const client = JSON.stringify(join(PROJECT_ROOT, "client/src/index.ts"));
  return await Promise.all(
    examples.map(async ([, example = ""], i) => {
      const file = join(folder, "src", `${i}.ts`);
      writeFileSync(file, example.replace('"tessera-client"', client));
      return await import(file);
    }),
  );
}

const api = await sharedApi();
const member = await api.user();
const { key } = await api.key(member);
// The examples name the project of their page, so the project has its name in this database alone.
await api.post("/projects", { name: "Garden", slug: "garden", embedder: "hashing" }, member);
const put = await api.send("PUT", "/projects/garden/files/kale.md", {
  as: member,
  body: `# Kale\n\n${KALE}\n`,
  headers: { "content-type": "text/markdown" },
});
const question = "what survives frost?";
await until("the file is found", async () => {
  const found = await api.post("/projects/garden/retrieve", { query: question }, member);
  return found.body.data?.length > 0;
});
process.env.TESSERA_URL = api.url;
process.env.KEY = key;
const [llamaIndex, aiSdk] = await modulesOf("client/README.md");

test("the documented retriever for LlamaIndex.TS finds passages with their places and scores", async () => {
  expect(put.status).toBe(201);
  const [found] = await new llamaIndex.TesseraRetriever().retrieve({ query: question });
  expect(found.node.text).toContain(KALE);
  expect(found.node.metadata).toEqual({ title: "Kale", path: "kale.md" });
  expect(found.score).toBeGreaterThan(0);
});

test("the documented tool for the AI SDK is called by a model, which sees what it finds", async () => {
  const usage = { inputTokens: {}, outputTokens: {} };
  const prompts: string[] = [];
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }: Json) => {
      prompts.push(JSON.stringify(prompt));
      const call = { toolCallId: "1", toolName: "search", input: JSON.stringify({ question }) };
      const content =
        prompts.length === 1 ? [{ type: "tool-call", ...call }] : [{ type: "text", text: "Kale." }];
      const finishReason = { unified: prompts.length === 1 ? "tool-calls" : "stop" };
      return { content, finishReason, usage, warnings: [] } as Json;
    },
  });
  const tools = { search: aiSdk.search };
  const { text } = await generateText({ model, tools, prompt: question, stopWhen: isStepCount(2) });
  expect(text).toBe("Kale.");
  expect(prompts[1]).toContain(KALE);
});
