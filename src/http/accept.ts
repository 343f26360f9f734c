const HTML_TYPE = "text/html";
const JSON_TYPE = "application/json";

/** The quality that an Accept header gives to a media type, by the most specific of its ranges. */
function qualityOf(accept: string, type: string): number {
  const ranges = ["*/*", `${type.slice(0, type.indexOf("/"))}/*`, type];
  let best = { specificity: -1, quality: 0 };
  for (const entry of accept.split(",")) {
    const [range = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    const specificity = ranges.indexOf(range);
    if (specificity <= best.specificity) continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    best = { specificity, quality: Number(weight) || 0 };
  }
  return best.quality;
}

/** True when the caller prefers HTML to JSON, as browsers do (RFC 9110, section 12.5.1). */
export function prefersHtml(headers: Headers): boolean {
  const accept = headers.get("accept") ?? "";
  return qualityOf(accept, HTML_TYPE) > qualityOf(accept, JSON_TYPE);
}
