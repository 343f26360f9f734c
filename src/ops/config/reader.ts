import type { VariableName } from "./variables.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads variables and collects all their faults instead of stopping at the first. */
export class Reader {
  readonly faults: string[] = [];
  constructor(private readonly env: Environment) {}

  text(name: VariableName): string | undefined {
    return this.secret(name);
  }

  /** The value of a variable that an operator has named. */
  secret(name: string): string | undefined {
    const value = this.env[name]?.trim();
    return value === undefined || value === "" ? undefined : value;
  }

  integer(name: VariableName, fallback: number, minimum: number, maximum: number): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= minimum && number <= maximum) return number;
    this.faults.push(`${name} must be a whole number from ${minimum} to ${maximum}`);
    return fallback;
  }

  oneOf<T extends string>(name: VariableName, fallback: T, values: readonly T[]): T {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return fallback;
    if (values.includes(value as T)) return value as T;
    this.faults.push(`${name} must be one of ${values.join(", ")}`);
    return fallback;
  }

  url(name: VariableName, protocols: readonly string[]): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    // The value may contain a password, so the fault does not repeat it. PostgreSQL addresses may
    // name a socket, which URL cannot parse, so only their prefix is checked.
    const protocol = protocols.find((candidate) => value.startsWith(`${candidate}://`));
    const parses = protocol?.startsWith("http") ? URL.canParse(value) : protocol !== undefined;
    if (parses) return value;
    const forms = protocols.map((candidate) => `${candidate}://`).join(" or ");
    this.faults.push(`${name} must be a URL that starts with ${forms}`);
    return undefined;
  }

  /** The address of one PostgreSQL server, or of a proxy before it. */
  database(name: VariableName): string | undefined {
    const value = this.url(name, ["postgres", "postgresql"]);
    if (value === undefined) return undefined;
    const [address = "", query = ""] = value.split("?");
    const authority = address.replace(/^\w+:\/\//, "").replace(/\/.*$/, "");
    const hosts = [authority.replace(/^.*@/, ""), new URLSearchParams(query).get("host") ?? ""];
    if (!hosts.some((host) => host.includes(","))) return value;
    this.faults.push(
      `${name} must name one server: where another takes over, name the address of a proxy, or a name in DNS, ` +
        "that leads to the primary",
    );
    return undefined;
  }

  /** A comma-separated list of origins, in the form of `new URL(...).origin`. */
  origins(name: VariableName): string[] {
    const origins: string[] = [];
    for (const entry of (this.text(name) ?? "").split(",")) {
      const value = entry.trim();
      if (value === "") continue;
      const url = URL.canParse(value) ? new URL(value) : undefined;
      const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === "/";
      if (isOrigin && url.search === "" && url.hash === "" && url.username === "") {
        origins.push(url.origin);
      } else {
        this.faults.push(
          `${name} must be a comma-separated list of origins such as https://app.example.com`,
        );
      }
    }
    return origins;
  }
}
