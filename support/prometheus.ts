/** A value of a scrape. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A scrape in the text format of Prometheus. */
export class Scrape {
  readonly #samples: Sample[] = [];
  /** The metrics with their types: for a histogram one name, which its samples extend. */
  readonly types = new Map<string, string>();

  constructor(text: string) {
    for (const line of text.split("\n")) {
      const [, family, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
      if (family !== undefined && type !== undefined) this.types.set(family, type);
      const [, name, list = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (name === undefined) continue;
      const labels = [...list.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
      this.#samples.push({
        name,
        labels: Object.fromEntries(labels.map(([, label = "", text = ""]) => [label, text])),
        value: Number(value),
      });
    }
  }

  /** Every name that a query may use, such as those with `_bucket`. */
  get names(): Set<string> {
    const names = [...this.types].flatMap(([name, type]) =>
      type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name],
    );
    return new Set(names);
  }

  /** The samples of a name that have all of these labels. */
  samples(name: string, labels: Readonly<Record<string, string>> = {}): readonly Sample[] {
    return this.#samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  }

  /** The sum of the samples of a name that have all of these labels; 0 without any. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.samples(name, labels).reduce((sum, { value }) => sum + value, 0);
  }
}

/** Scrapes a running service. */
export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`);
  return new Scrape(await response.text());
}
