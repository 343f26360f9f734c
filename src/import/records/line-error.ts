/** Why one record cannot be kept. It concerns this record alone; the import goes on. */
export class LineError extends Error {
  override name = "LineError";
}
