import { type Static, Type } from "@sinclair/typebox";
import { type Operation, operation } from "../../http/operation.ts";
import { ownDimension, type ProjectEmbedders } from "../../import/embedders/project-embedders.ts";
import { described, listOf, text } from "../../shared/schemas.ts";

const EmbedderList = described("EmbedderList", "The embedders that projects may have.", {
  data: listOf(
    described("Embedder", "A model that makes vectors of texts.", {
      name: text("The name that projects give."),
      dimension: Type.Integer({ minimum: 1, description: "The dimension of its vectors." }),
    }),
    "The built-in one first, then those of the configuration.",
  ),
});
type EmbedderList = Static<typeof EmbedderList>;

const EXAMPLE: EmbedderList = {
  data: [
    { name: "hashing", dimension: 768 },
    { name: "e5", dimension: 1_024 },
  ],
};

/** GET /embedders. */
export function embeddersOperation(embedders: ProjectEmbedders): Operation {
  return operation({
    id: "listEmbedders",
    method: "GET",
    path: "/embedders",
    tag: "Projects",
    summary: "List the embedders that projects may have",
    description:
      "They are the same for all callers: the built-in one and those of the configuration.",
    extension: true,
    permission: "projects.read",
    response: EmbedderList,
    responseExample: EXAMPLE,
    problems: [],
    async handle() {
      const data = [...embedders.values()].map(({ name, fingerprint }) => ({
        name,
        dimension: ownDimension(fingerprint),
      }));
      return { data };
    },
  });
}
