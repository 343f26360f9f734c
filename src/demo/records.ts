import { generateKey } from "../auth/key-format.ts";
import { FIRST_OWNER } from "../auth/users.ts";
import { PROJECT, RELEASE } from "./content.ts";

const COLLEAGUE = "grace@example.com";
const CONVERSATION = "9d2c4b6a-1e3f-4a5b-8c7d-0f1e2d3c4b5a";
const QUESTION = "0198c0de-0000-7000-8000-000000000002";
const BRANCH = "0197a3c2-5d1e-7c0b-9a40-3f2b6f1c8e55";

/** The demo project's records besides its files: one for each id that the examples of the OpenAPI document name. */
export const RECORDS: readonly object[] = [
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
