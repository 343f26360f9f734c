/** Where a page may load its styles and scripts from; from the service by default. */
interface PageSources {
  readonly styles?: string;
  readonly scripts?: string;
  /** `refused`: the browser refuses to make markup or scripts of texts, whatever a script asks for. */
  readonly markup?: "allowed" | "refused";
}

/** The sources that a page may load: files of the service only. */
function pagePolicy(sources: PageSources): string {
  const { styles = "'self'", scripts = "'self'", markup = "allowed" } = sources;
  return [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src ${styles}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...(markup === "refused" ? ["trusted-types 'none'", "require-trusted-types-for 'script'"] : []),
  ].join("; ");
}

/** Headers of an HTML page and of its files. */
export function pageHeaders(sources: PageSources = {}): Readonly<Record<string, string>> {
  return {
    "content-security-policy": pagePolicy(sources),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}
