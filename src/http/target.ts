/** The path of a base URL, without a trailing slash: empty for most. */
export function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, "");
}

/** Path and query of a request's URL as they were sent; no parser can reject them. */
export function targetOf(url: string): { path: string; target: string } {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  const target = url.slice(start);
  const end = target.indexOf("?");
  return { path: end < 0 ? target : target.slice(0, end), target };
}
