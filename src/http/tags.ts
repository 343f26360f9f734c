/** The groups of operations in the API document, with their descriptions. */
export const TAGS = {
  "API keys": "Create, read and revoke API keys.",
  Assistants: "The Model Context Protocol.",
  Billing: "Subscription upgrades.",
  Branches: "Whether branches can be merged.",
  Chunks: "The indexed pieces of files.",
  Conversations: "Conversations, their messages, and answers to input requests.",
  Errors: "The types of problems.",
  Files: "The files of environments and releases.",
  Import: "Records in bulk.",
  Knowledge: "Lookup of documents by text.",
  Projects: "Projects of the caller.",
  Search: "Search of chunks by vector.",
  Webhooks: "Deliveries from outside.",
} as const;

export type Tag = keyof typeof TAGS;
