/** Where a page may load its styles and scripts from; from the service by default. */
interface PageSources {
  readonly styles?: string;
  readonly scripts?: string;
}

/** What a page may load: files of the service only. */
function pagePolicy({ styles = "'self'", scripts = "'self'" }: PageSources): string {
  return [
    "default-src 'none'",
    `script-src ${scripts}`,
    `style-src ${styles}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
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
