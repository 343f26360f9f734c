import type { Service } from "./service.ts";

/** A value of a metric without labels; null when the text has none. */
export function metricOf(text: string | undefined, name: string): number | null {
  const found = new RegExp(`^${name} (\\S+)`, "m").exec(text ?? "");
  return found === null ? null : Number(found[1]);
}

/** CPU of the service's process during a window, from its own metrics. */
export class ServerFigures {
  readonly #cpu: { begin: number | null; end: number | null } = { begin: null, end: null };

  constructor(private readonly service: Service) {}

  async note(edge: "begin" | "end"): Promise<void> {
    const text = await this.service.metrics();
    this.#cpu[edge] = metricOf(text, "tessera_process_cpu_seconds_total");
  }

  /** CPU milliseconds per answer; null when the metrics could not be read. */
  cpuMillisecondsPer(answers: number): number | null {
    const { begin, end } = this.#cpu;
    if (begin === null || end === null || answers === 0) return null;
    return ((end - begin) * 1_000) / answers;
  }
}
