/** Where a page may load its styles and scripts from; from the service by default. */
interface PageSources {
  readonly styles?: string;
  readonly scripts?: string;
  /** `refused`: the browser refuses to make markup or scripts of texts, whatever a script asks for. */
  readonly markup?: "allowed" | "refused";
}

/** Headers of an HTML page and of its files, which may load files of the service only. */
export function pageHeaders({
  styles = "'self'",
  scripts = "'self'",
  markup = "allowed",
}: PageSources = {}): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src ${styles}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...(markup === "refused" ? ["trusted-types 'none'", "require-trusted-types-for 'script'"] : []),
  ];
  return {
    "content-security-policy": policy.join("; "),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}
