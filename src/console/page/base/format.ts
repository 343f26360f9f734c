const KIB = 1_024;
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export const number = (value: number, digits = 0): string =>
  value.toLocaleString(undefined, { maximumFractionDigits: digits });

/** `1 file`, `2 files`. */
export const counted = (value: number, noun: string, plural = `${noun}s`): string =>
  `${number(value)} ${value === 1 ? noun : plural}`;

export function bytes(value: number): string {
  let unit = 0;
  let scaled = value;
  while (scaled >= KIB && unit < UNITS.length - 1) {
    scaled /= KIB;
    unit++;
  }
  return `${number(scaled, scaled < 10 && unit > 0 ? 1 : 0)} ${UNITS[unit]}`;
}

/** A duration with three digits: `0.412 ms`, `35.1 ms`, `2.5 s`. */
export function duration(ms: number): string {
  return ms < 1_000
    ? `${Number(ms.toPrecision(3))} ms`
    : `${Number((ms / 1_000).toPrecision(3))} s`;
}

/** A time in the format of the browser's locale. */
export const dateTime = (iso: string): string =>
  new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** The time since then: `5 minutes ago`. */
export function ago(iso: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1_000);
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const [unit, size] = STEPS.find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 1];
  return format.format(Math.trunc(seconds / size), unit);
}

/** A text between single quotes of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
