import { quoted } from "../base/format.ts";
import { SERVICE } from "../base/service.ts";
import { Code } from "../parts/code.tsx";
import { bodyOf, optionsOf } from "./ask.ts";
import type { Question } from "./question.ts";

const KEY = "$TESSERA_API_KEY";

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2);

/** The search with curl. To find similar chunks, it fetches the vector of the chunk first. */
function curlOf(question: Question): string {
  const { like, project, vector } = question;
  const address = `${SERVICE.baseUrl}/projects/${encodeURIComponent(project)}`;
  const search = (data: string) => `curl -s ${quoted(`${address}/retrieve`)} \\
  -H "Authorization: Bearer ${KEY}" \\
  -H "Content-Type: application/json" \\
  -d ${data}`;
  if (like === "") return search(quoted(pretty(bodyOf(question, vector))));
  const merge = quoted(`{vector, dimension} + ${pretty(optionsOf(question))}`);
  return `curl -s ${quoted(`${address}/chunks/${encodeURIComponent(like)}/embedding`)} \\
  -H "Authorization: Bearer ${KEY}" |
  jq ${merge} |
  ${search("@-")}`;
}

/** The call of the typed client, which takes vectors as numbers. */
function clientOf(question: Question): string {
  const { project, like, query, vector } = question;
  const numbersOf = (text: string) =>
    `new Float32Array(Uint8Array.from(atob(${text}), (c) => c.charCodeAt(0)).buffer)`;
  const fetched =
    like === ""
      ? ""
      : `const embedding = await tessera.getChunkEmbedding(${pretty(project)}, ${pretty(like)});\n`;
  const asked =
    query === ""
      ? `vector: ${numbersOf(like === "" ? pretty(vector) : "embedding.vector")}`
      : `query: ${pretty(query)}`;
  const options = pretty(optionsOf(question)).replace(/^ {2}"(\w+)":/gm, "  $1:");
  return `import { Tessera } from "tessera-client";

const tessera = new Tessera({
  baseUrl: ${pretty(SERVICE.baseUrl)},
  credential: process.env.TESSERA_API_KEY ?? "",
});

${fetched}const found = await tessera.retrieve(${pretty(project)}, {
  ${asked},${options.slice(1)});`;
}

/** The search as code. The API key is a variable, and never shown. */
export function SearchCode({ question }: { question: Question }) {
  return (
    <div class="page">
      <Code label="curl" text={curlOf(question)} />
      <Code label="TypeScript client" text={clientOf(question)} />
    </div>
  );
}
