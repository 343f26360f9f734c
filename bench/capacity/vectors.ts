import { figure } from "./measured.ts";
import type { Options } from "./options.ts";
import {
  databaseLimits,
  fillLimit,
  GIB,
  indexBytes,
  type Limit,
  pageBytes,
  type Sized,
  searchCores,
  size,
} from "./sizing.ts";
import { textBytes } from "./workload.ts";

/** A project in PostgreSQL: a server per placement, and nodes that hold its texts. */
export interface VectorFleet {
  readonly placements: number;
  readonly serverGib: number;
  readonly nodes: number;
  readonly nodeGib: number;
  readonly connections: number;
  readonly commit: number;
}

const PLACEMENTS_MAX = 256;
const ORDINARY_GIB = 256;

/** CPU seconds of PostgreSQL for a search on one placement. The growth with the size is an assumption: a logarithm. */
export function placementCpu(vectors: number): number {
  const from = figure("pgvectorFrom");
  const growth = Math.log(Math.max(vectors, from)) / Math.log(from);
  return (figure("pgvectorSearch") * growth) / 1_000;
}

/** Bytes of a row: the vector in single and half precision, three bits per element, and the chunk. */
export const rowBytes = (dimension: number): number =>
  (4 + 2 + 3 / 8) * dimension + figure("databasePerVector");

/** The servers' limits, of which each placement answers every search. */
function serverLimits(vectors: number, fleet: VectorFleet, options: Options): Limit<VectorFleet>[] {
  const { placements, serverGib } = fleet;
  const own = vectors / placements;
  // A code has three bits per element; the rest of a node does not depend on the dimension.
  const codes = figure("pgvectorGraph") + ((options.dimension - 768) * 3) / 8;
  const row = rowBytes(options.dimension);
  const cached = Math.min(1, pageBytes(serverGib) / (own * row));
  const larger = serverGib < options.largest ? { ...fleet, serverGib: serverGib * 2 } : undefined;
  const parts = placements < PLACEMENTS_MAX ? { ...fleet, placements: placements * 2 } : larger;
  const either = serverGib < ORDINARY_GIB ? larger : parts;
  return [
    {
      ...{
        name: "memory for the graph of a placement",
        remedy: "larger servers, then more placements",
      },
      ...{ use: (own * codes) / (serverGib * GIB * figure("indexShare")), grown: either },
    },
    {
      ...{ name: "disk reads of a placement", remedy: "more placements" },
      ...{
        use: (options.rate * figure("pgvectorRead") * (1 - cached)) / options.reads,
        grown: either,
      },
    },
    {
      ...{ name: "CPU of a placement", remedy: "larger servers" },
      ...{
        use: (options.rate * placementCpu(own)) / searchCores(serverGib, options),
        grown: larger,
      },
    },
    {
      ...{ name: "disk of a placement", remedy: "more placements" },
      ...{ use: (own * row) / (options.volume * 1e12), grown: parts },
    },
  ];
}

/** The servers and nodes for one project whose vectors are in PostgreSQL. */
export function sizeVectorServers(
  vectors: number,
  start: VectorFleet,
  options: Options,
): Sized<VectorFleet> {
  return size(start, (fleet) => {
    const { nodes, nodeGib } = fleet;
    const nodeLarger = nodeGib < options.largest ? { ...fleet, nodeGib: nodeGib * 2 } : undefined;
    return [
      ...serverLimits(vectors, fleet, options),
      {
        ...{ name: "the project's texts, which every node holds", remedy: "larger nodes" },
        ...{ use: textBytes(vectors, options) / indexBytes(nodeGib), grown: nodeLarger },
      },
      ...databaseLimits(fleet, { nodes, vectors }, options),
      fillLimit(
        vectors,
        figure("pgvectorStored"),
        "a higher rate than the one that was measured",
        options,
      ),
    ];
  });
}
