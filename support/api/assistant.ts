import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onCleanup } from "../cleanup.ts";
import type { Caller, TestApi } from "./api.ts";

/** An assistant: the client of the protocol's own library, over HTTP. It is closed after the last test. */
export async function assistantOf(api: TestApi, as: Caller): Promise<Client> {
  const client = new Client({ name: "test", version: "2.0.0" });
  const transport = new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), {
    requestInit: { headers: as.headers },
  });
  await client.connect(transport as never);
  onCleanup(() => client.close());
  return client;
}
