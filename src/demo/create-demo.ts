import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { generateKey } from "../auth/key-format.ts";
import { FIRST_OWNER } from "../auth/users.ts";
import { importMarkdown } from "../content/import/import-markdown.ts";
import type { Sql } from "../db/client.ts";
import { findMarkdown } from "../documents/conversion/folder.ts";
import { EMBED_HASHING_THRESHOLD } from "../domain/limits.ts";
import { hashingEmbedder } from "../embed/embedders/embedder.ts";
import {
  importEmbedder,
  type ProjectEmbedder,
  projectEmbedders,
} from "../embed/embedders/project-embedders.ts";
import { searchBody } from "../embed/embedders/search-body.ts";
import { HASHING } from "../ops/config/embedders.ts";
import { writeDurablySync } from "../ops/durable-files.ts";
import type { Log } from "../ops/observability/log.ts";
import { issueApiKey, passingKeyEnd } from "../platform/api-keys/issue.ts";
import { type Demo, PROJECT, QUERY, RELEASE } from "./content.ts";

const QUERY_LIMIT = 3;
const QUERY_FILE = "demo-query.json";
/** The file is an example, so all users may read it. */
const QUERY_FILE_MODE = 0o644;
const DOCUMENTS = join(import.meta.dir, "..", "..", "fixtures", "docs");
const COLLEAGUE = "grace@example.com";
const CONVERSATION = "9d2c4b6a-1e3f-4a5b-8c7d-0f1e2d3c4b5a";
const QUESTION = "0198c0de-0000-7000-8000-000000000002";
const BRANCH = "0197a3c2-5d1e-7c0b-9a40-3f2b6f1c8e55";

/**
 * Creates the demo project in one transaction: a user, and a project with two environments and a release. Then the user
 * gets an API key. Returns undefined if the project cannot be created.
 */
export async function createDemo(dataDir: string, sql: Sql, log: Log): Promise<Demo | undefined> {
  const hashing = projectEmbedders([], () => {}).get(HASHING) as ProjectEmbedder;
  const rejected: string[] = [];
  const summary = await importMarkdown(
    sql,
    {
      folder: DOCUMENTS,
      files: findMarkdown(DOCUMENTS).files,
      embedder: importEmbedder(hashing.fingerprint, hashing, () => {}),
      newEmbedder: HASHING,
      project: PROJECT,
      environments: ["production", "staging"],
      owner: FIRST_OWNER,
      strict: true,
      furtherRecords: RECORDS,
    },
    {
      onFile: () => {},
      onReport: (path, reason) => rejected.push(`${path}: ${reason}`),
    },
  );
  if (summary.rejected > 0) {
    // Most likely another process with the same database created the project first.
    log.warn({ rejected }, "the demo project was not created");
    return undefined;
  }
  return { ...(await issueKey(sql)), queryFile: await writeQuery(dataDir) };
}

/**
 * A key of FIRST_OWNER, who also owns projects that the command line imports: the key has access to these projects and
 * creates others. It is printed and stays in logs, so it expires soon.
 */
async function issueKey(sql: Sql): Promise<Pick<Demo, "key" | "expiresAt">> {
  const expiresAt = passingKeyEnd();
  const request = { email: FIRST_OWNER, name: "first key", expiresAt };
  return { key: (await issueApiKey(sql, request)).key, expiresAt };
}

async function writeQuery(dataDir: string): Promise<string> {
  const vector = await hashingEmbedder().embedQuery(QUERY);
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, QUERY_FILE);
  const body = searchBody(vector, { limit: QUERY_LIMIT, threshold: EMBED_HASHING_THRESHOLD });
  writeDurablySync(file, `${JSON.stringify(body)}\n`, { mode: QUERY_FILE_MODE });
  return file;
}

/** The demo project's records besides its files: one for each id that the examples of the OpenAPI document name. */
const RECORDS: readonly object[] = [
  {
    record: "release",
    project: PROJECT,
    name: RELEASE,
    environment: "production",
    export_status: "success",
    build_status: "success",
    deploy_status: "success",
  },
  { record: "user", email: COLLEAGUE, name: "Grace" },
  {
    record: "api_key",
    id: "0197a3c2-5d1e-7c0b-9a40-3f2b6f1c8e55",
    user: FIRST_OWNER,
    name: "an example, whose secret nobody knows",
    key: generateKey(),
    project: PROJECT,
    scopes: ["knowledge.lookup"],
  },
  { record: "branch", id: BRANCH, project: PROJECT, name: "new-guide" },
  { record: "status_check", branch_id: BRANCH, check_name: "links", status: "success" },
  {
    record: "conversation",
    id: CONVERSATION,
    project_id: PROJECT,
    created_by: FIRST_OWNER,
    title: "Release notes",
  },
  {
    record: "message",
    id: QUESTION,
    conversation_id: CONVERSATION,
    seq: 1,
    role: "user",
    parts: [{ type: "text", text: "Is the release live?" }],
  },
  {
    record: "message",
    id: "0198c0de-0000-7000-8000-000000000003",
    conversation_id: CONVERSATION,
    seq: 2,
    role: "assistant",
    parent_id: QUESTION,
    parts: [{ type: "text", text: `${RELEASE} is live.` }],
  },
  {
    record: "input_request",
    id: "3f0a9b1c-6f7d-4f0e-9b51-2d2f4a7c8e10",
    conversation_id: CONVERSATION,
    title: "Deploy?",
    fields: [
      { name: "environment", type: "text", required: true },
      { name: "approve", type: "boolean" },
    ],
  },
  { record: "webhook_definition", id: "github-deploys", project: PROJECT, secret: generateKey() },
];
