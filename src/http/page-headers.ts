/** What a page may load: files of the service only. */
function pagePolicy(styles: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Headers of an HTML page and of its files. `styles` are the sources of its styles. */
export function pageHeaders(styles = "'self'"): Readonly<Record<string, string>> {
  return {
    "content-security-policy": pagePolicy(styles),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}
