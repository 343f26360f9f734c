import { generateKey } from "../../src/auth/key-format.ts";
import { base64Vector, vector } from "./support.ts";

/** Ids of the records below, each of one digit. */
export const ID = (digit: number) => `${String(digit).repeat(8)}-1111-4111-8111-111111111111`;
/** A record of a file. */
export const file = (path: string, more: object = {}) => ({
  record: "file",
  project: "docs",
  path,
  ...more,
});

/** At least one record of every kind, with optional fields. */
export function everyKind(): object[] {
  return [
    {
      record: "user",
      id: ID(1),
      email: "Ada@Example.com",
      name: "Ada",
      role: "admin",
      avatar_src: "a.png",
    },
    { record: "user", email: "bob@example.com", name: "Bob" },
    {
      record: "project",
      id: ID(2),
      slug: "docs",
      name: "Docs",
      description: "All of it",
      features: ["plain", 'with "quotes", \\ and {braces}', "NULL"],
      config: { branch_protection: { required_approvals: 2 } },
      is_claimed: false,
      prompt_count: 3,
      provider: "gitlab",
      layout: "wide",
      published_at: "2026-01-02T03:04:05.678Z",
      owner: "ada@example.com",
      members: [{ user: "bob@example.com", role: "member" }],
    },
    {
      record: "environment",
      project: "docs",
      name: "production",
      protected: true,
      domains: ["docs.example.com"],
      environment_variables: [{ key: "A", value: "1" }],
      server_hostname: "host",
      active_release: "v1",
    },
    { record: "environment", project: ID(2), name: "staging" },
    file("a.md", {
      environments: ["production", "staging"],
      releases: ["v1"],
      content: "hello wide world",
      chunks: [
        { content: "hello", embedding: vector(768, 1) },
        { content: "world", metadata: { b: 1, a: null }, embedding: base64Vector(1024, 2) },
      ],
    }),
    {
      record: "release",
      project: "docs",
      name: "v2",
      environment: "staging",
      build_status: "done",
    },
    { record: "branch", project: "docs", id: ID(3), name: "feature" },
    {
      record: "branch_approval",
      branch_id: ID(3),
      approved_by: ID(1),
      approved_at: "2026-01-01T00:00:00Z",
      comment: "fine",
      dismissed_at: null,
    },
    { record: "status_check", branch_id: ID(3), check_name: "ci", status: "pending" },
    {
      record: "conversation",
      id: ID(4),
      project_id: "docs",
      created_by: "ada@example.com",
      title: "Title",
      message_count: 0,
      metadata: null,
    },
    {
      record: "message",
      id: ID(5),
      conversation_id: ID(4),
      seq: 1,
      role: "user",
      parts: [{ type: "text", text: "hi" }],
      created_at: "2026-01-01T00:00:00Z",
    },
    {
      record: "message",
      conversation_id: ID(4),
      parent_id: ID(5),
      seq: 7,
      role: "assistant",
      token_usage: { input: 3 },
      cost_credits: "0.5",
      created_at: "2026-01-02T00:00:00Z",
    },
    {
      record: "input_request",
      id: ID(6),
      conversation_id: ID(4),
      fields: [{ name: "x", type: "text", required: true }],
      expires_at: "2030-01-01T00:00:00Z",
    },
    {
      record: "input_request",
      id: ID(7),
      conversation_id: ID(4),
      status: "submitted",
      submitted_at: "2026-01-01T00:00:00Z",
      latest_response: { actor_id: ID(1), values: { z: 1, a: [1, 2] } },
    },
    {
      record: "webhook_definition",
      id: "hook",
      project: "docs",
      secret: "s3cret",
      conversation_id: ID(4),
    },
    {
      record: "api_key",
      user: "bob@example.com",
      name: "laptop",
      key: generateKey(),
      project: "docs",
      scopes: ["search.query"],
      expires_at: "2030-01-01T00:00:00Z",
    },
  ];
}
