import type { BenchContext } from "../harness/context.ts";
import { cpuSeconds, residentBytes } from "../harness/process-usage.ts";
import type { Matrix } from "../harness/vector-files.ts";
import { importRows, rowOfHit, untilComplete } from "../load/data.ts";
import { startOwnService } from "../load/own-service.ts";
import { Service } from "../load/service.ts";
import type { Peer } from "./peer.ts";

const INDEX_SECONDS = 1_800;

interface Answer {
  readonly data: ReadonlyArray<{
    readonly chunk: { readonly file_path: string; readonly index: number };
  }>;
}

/** A service of its own, asked over HTTP with JSON arrays as users ask it. */
export async function tessera(context: BenchContext): Promise<Peer> {
  const [project, environment] = ["bench", "production"];
  const own = await startOwnService(context, project, environment);
  const service = new Service({ project, environment, ...own });
  const url = `${service.url.origin}${service.searchPath}`;
  const { anonymous, mapped } = residentBytes(own.pid);
  const before = anonymous + mapped;
  const headers = { "x-api-key": own.key, "content-type": "application/json" };
  return {
    name: "Tessera",
    efforts: [0],
    async load(data: Matrix) {
      await importRows(service, data);
      await untilComplete(service, data.dimension, INDEX_SECONDS);
    },
    async use() {},
    async search(query, limit) {
      const vector = Array.from(query);
      const body = JSON.stringify({ vector, dimension: vector.length, limit, threshold: 0 });
      const answer = await fetch(url, { method: "POST", headers, body });
      if (!answer.ok) throw new Error(await answer.text());
      const { data } = (await answer.json()) as Answer;
      return data.map(({ chunk }) => rowOfHit(chunk));
    },
    cpuSeconds: () => cpuSeconds(own.pid),
    bytes() {
      const { anonymous, mapped } = residentBytes(own.pid);
      return anonymous + mapped - before;
    },
  };
}
