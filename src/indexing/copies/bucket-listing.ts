/** A page of a listing, as far as names can be those of copies: others are left out. */
export interface ListingPage {
  /** Sizes in bytes of the objects below the prefix. */
  readonly sizes: ReadonlyMap<string, number>;
  readonly folders: readonly string[];
  /** Asks for the next page; undefined after the last one. */
  readonly next: string | undefined;
}

/** Names that copies have: what else the bucket holds is nothing of theirs. */
const OWN_NAME = /^[\w-][\w.-]*$/;
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'" },
};

/** The text of the first element of this name. */
function textIn(xml: string, element: string): string | undefined {
  const start = xml.indexOf(`<${element}>`);
  const end = xml.indexOf(`</${element}>`, start);
  if (start < 0 || end < 0) return undefined;
  const text = xml.slice(start + element.length + 2, end);
  return text.replace(/&(?:amp|lt|gt|quot|apos);/g, (entity) => ENTITIES[entity] as string);
}

/** What follows the prefix in a key; undefined where no name of a copy does. */
function nameOf(key: string | undefined, prefix: string, isEncoded: boolean): string | undefined {
  if (key === undefined) return undefined;
  const plain = isEncoded ? decoded(key) : key;
  const name = plain.startsWith(prefix) ? plain.slice(prefix.length).replace(/\/$/, "") : "";
  return OWN_NAME.test(name) ? name : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return "";
  }
}

/** Reads an answer of ListObjectsV2; null when it is none, or not whole. */
export function readListing(xml: string, prefix: string): ListingPage | null {
  const truncated = textIn(xml, "IsTruncated");
  const isWhole =
    /<ListBucketResult[\s>]/.test(xml) && xml.trimEnd().endsWith("</ListBucketResult>");
  if (!isWhole || truncated === undefined) return null;
  const next = truncated === "true" ? textIn(xml, "NextContinuationToken") : undefined;
  if (truncated === "true" && next === undefined) return null;
  const isEncoded = textIn(xml, "EncodingType") === "url";
  const sizes = new Map<string, number>();
  const folders: string[] = [];
  for (const part of xml.split("<Contents>").slice(1)) {
    const name = nameOf(textIn(part, "Key"), prefix, isEncoded);
    const size = Number(textIn(part, "Size"));
    if (name !== undefined && Number.isSafeInteger(size)) sizes.set(name, size);
  }
  for (const part of xml.split("<CommonPrefixes>").slice(1)) {
    const name = nameOf(textIn(part, "Prefix"), prefix, isEncoded);
    if (name !== undefined) folders.push(name);
  }
  return { sizes, folders, next };
}
