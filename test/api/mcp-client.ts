import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Caller, TestApi } from "../../support/api/api.ts";
import { onCleanup } from "../../support/cleanup.ts";

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
