import { type Static, Type } from "@sinclair/typebox";
import { type Operation, operation } from "../../http/operation.ts";
import { ownDimension, type ProjectEmbedders } from "../../import/embedders/project-embedders.ts";
import { text } from "../../shared/schemas.ts";

const EmbedderList = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          name: text("The name that projects give."),
          dimension: Type.Integer({ minimum: 1, description: "The dimension of its vectors." }),
        },
        { title: "Embedder", description: "What makes vectors of texts." },
      ),
      { description: "The built-in one first, then those of the configuration." },
    ),
  },
  { title: "EmbedderList", description: "The embedders that projects may have." },
);
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
