/**
 * Writes client/src/types.ts from the OpenAPI document of a running service:
 * `bun scripts/client-types.ts http://127.0.0.1:3000/docs/json`.
 */
import { join } from "node:path";
import { clientTypes } from "./openapi-types.ts";

const [address = "http://127.0.0.1:3000/docs/json"] = process.argv.slice(2);
const document = (await (await fetch(address)).json()) as Parameters<typeof clientTypes>[0];
await Bun.write(join(import.meta.dir, "../client/src/types.ts"), await clientTypes(document));
