import { type Static, Type } from "@sinclair/typebox";
import { findProject } from "../../auth/project-access.ts";
import type { Sql } from "../../db/client.ts";
import { count, described, listOf, nullable, oneOf, ProjectParams } from "../../domain/schemas.ts";
import { type Operation, operation } from "../../http/operation.ts";
import { readQuotas } from "./quota.ts";

const Quotas = described("Quotas", "How much a project stores and may store.", {
  data: listOf(
    described("Quota", "A limit of a project and how much of it is used.", {
      quota: oneOf(["files", "bytes", "chunks"], "The limited amount."),
      used: count("How much the project stores, with all versions of its files."),
      allowed: nullable(
        Type.Integer({ minimum: 0 }),
        "How much it may store; null without a limit.",
      ),
    }),
    "Files, bytes and chunks, in this order.",
  ),
});
type Quotas = Static<typeof Quotas>;

const EXAMPLE: Quotas = {
  data: [
    { quota: "files", used: 1_204, allowed: 10_000 },
    { quota: "bytes", used: 48_210_377, allowed: 1_000_000_000 },
    { quota: "chunks", used: 15_480, allowed: null },
  ],
};

/** GET /projects/{project_reference}/quotas. */
export function quotasOperation(sql: Sql): Operation {
  return operation({
    id: "getQuotas",
    method: "GET",
    path: "/projects/{project_reference}/quotas",
    tag: "Projects",
    summary: "Read how much a project stores and may store",
    description:
      "Everything that is stored counts, also versions that no environment and no release holds. Bytes are those " +
      "of the contents of files, of the texts, metadata and embeddings of chunks, and of conversations, " +
      "messages, input requests, webhook events and configuration. Operators set the limits with " +
      "`tessera projects quota`.",
    extension: true,
    permission: "projects.read",
    params: ProjectParams,
    response: Quotas,
    responseExample: EXAMPLE,
    problems: ["project-not-found"],
    async handle({ params, principal }) {
      const projectId = await findProject(sql, principal, params.project_reference);
      return { data: await readQuotas(sql, projectId) };
    },
  });
}
