import { plugin } from "bun";
import typescript from "typescript-5";

// The generator needs the programming interface of TypeScript 5, which version 7 does not have.
plugin({
  name: "typescript-5",
  setup(build) {
    const exports = { ...typescript, default: typescript };
    build.module("typescript", () => ({ loader: "object", exports }));
  },
});

/** The TypeScript types of an OpenAPI document, as openapi-typescript generates them. */
export async function openApiTypes(document: object): Promise<string> {
  const { astToString, default: generate } = await import("openapi-typescript");
  return astToString(await generate(document as Parameters<typeof generate>[0]));
}
