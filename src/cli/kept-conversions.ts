import { join } from "node:path";
import { Conversions } from "../import/markdown/conversions.ts";
import { atEnd } from "./interruption.ts";
import { configOf, type Io } from "./io.ts";

const FILE = "conversions.sqlite";

/** The documents that commands of this installation have converted. */
export function openConversions(io: Io): Conversions {
  const conversions = new Conversions(join(configOf(io).dataDir, FILE));
  atEnd(async () => conversions.close());
  return conversions;
}
