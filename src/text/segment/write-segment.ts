import {
  alignUp,
  checksum,
  elementBytes,
  HEADER,
  HEADER_BYTES,
  MAGIC,
  MARK,
  SECTIONS,
  SEGMENT_MAX_DOCUMENTS,
  type SectionName,
  VERSION,
} from "./format.ts";
import { invert, type TokenStreams } from "./invert.ts";
import { pathHash } from "./shard.ts";
import { sortTerms } from "./sort-terms.ts";
import {
  DOCUMENTS_PER_STEP,
  type StagedDocument,
  type StagedDocuments,
  type Steps,
} from "./staging.ts";
import { linkStemGroups } from "./stem-groups.ts";

/** Writes staged documents into the one buffer that is a segment. */
export function* writeSegment(staged: StagedDocuments): Steps<SharedArrayBuffer> {
  if (staged.documents.length > SEGMENT_MAX_DOCUMENTS) {
    throw new RangeError(`a segment holds at most ${SEGMENT_MAX_DOCUMENTS} documents`);
  }
  const documents = [...staged.documents].sort(
    (a, b) => Buffer.compare(a.path, b.path) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
  yield;
  const terms = yield* sortTerms(staged.terms);
  const nextSameStem = linkStemGroups(terms.sorted);
  yield;
  const streams = yield* joinTokens(documents, terms.rank);
  const postings = yield* invert(streams, documents.length, terms.sorted.length, staged.keys);
  const strings = joinStrings(documents, staged.keys);
  yield;
  return assemble(documents.length, terms.sorted.length, {
    stringStart: strings.starts,
    strings: strings.bytes,
    lengths: postings.lengths,
    pathHashes: Uint32Array.from(documents, (document) => pathHash(document.path)),
    ...joinBlocks(documents),
    tokenStart: streams.starts,
    tokens: streams.tokens,
    termStart: terms.starts,
    termChars: terms.chars,
    reversed: terms.reversed,
    nextSameStem,
    postingStart: postings.starts,
    postings: postings.postings,
  });
}

/** Concatenates the documents' tokens, with final term numbers. */
function* joinTokens(documents: readonly StagedDocument[], rank: Uint32Array): Steps<TokenStreams> {
  const starts = new Uint32Array(documents.length + 1);
  documents.forEach((document, i) => {
    starts[i + 1] = (starts[i] as number) + document.tokens.length;
  });
  const tokens = new Uint32Array(starts[documents.length] as number);
  let at = 0;
  for (const [d, document] of documents.entries()) {
    if (d % DOCUMENTS_PER_STEP === 0) yield;
    for (let i = 0; i < document.tokens.length; i++) {
      const token = document.tokens[i] as number;
      tokens[at++] = token >= MARK ? token : (rank[token] as number);
    }
  }
  return { starts, tokens };
}

/** Concatenates the text blocks of all documents. */
function joinBlocks(documents: readonly StagedDocument[]) {
  const all = documents.flatMap((document) => document.blocks);
  const blockStart = new Uint32Array(documents.length + 1);
  documents.forEach((document, i) => {
    blockStart[i + 1] = (blockStart[i] as number) + document.blocks.length;
  });
  const blocks = new Uint32Array(all.length * 2);
  let length = 0;
  all.forEach(({ firstToken, bytes }, i) => {
    blocks[i * 2] = length;
    blocks[i * 2 + 1] = firstToken;
    length += bytes.length;
  });
  return {
    blockStart,
    blocks,
    texts: Buffer.concat(
      all.map(({ bytes }) => bytes),
      length,
    ),
  };
}

/** Concatenates all strings of the documents in UTF-8. */
function joinStrings(documents: readonly StagedDocument[], keys: readonly string[]) {
  const parts: Uint8Array[] = [];
  const starts = new Uint32Array(documents.length * 4 + 2);
  let length = 0;
  let count = 0;
  const push = (bytes: Uint8Array) => {
    parts.push(bytes);
    starts[count++] = length;
    length += bytes.length;
  };
  for (const document of documents) {
    push(document.path);
    push(Buffer.from(document.id));
    push(Buffer.from(document.title));
    push(Buffer.from(document.frontmatter));
  }
  push(Buffer.from(JSON.stringify(keys)));
  starts[count] = length;
  return { starts, bytes: Buffer.concat(parts, length) };
}

type Sections = Record<SectionName, Uint8Array | Uint16Array | Uint32Array>;

function assemble(documents: number, terms: number, sections: Sections): SharedArrayBuffer {
  let length = HEADER_BYTES;
  for (const name of SECTIONS) length = alignUp(length + sections[name].byteLength);
  const buffer = new SharedArrayBuffer(length);
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / 4);
  let offset = HEADER_BYTES;
  SECTIONS.forEach((name, i) => {
    const section = sections[name];
    const bytes = new Uint8Array(section.buffer, section.byteOffset, section.byteLength);
    new Uint8Array(buffer, offset, section.byteLength).set(bytes);
    header[HEADER.sectionCounts + i] = section.byteLength / elementBytes(name);
    offset = alignUp(offset + section.byteLength);
  });
  header[HEADER.magic] = MAGIC;
  header[HEADER.version] = VERSION;
  header[HEADER.lengthLow] = length >>> 0;
  header[HEADER.lengthHigh] = Math.floor(length / 2 ** 32);
  header[HEADER.bodyChecksum] = checksum(new Uint8Array(buffer, HEADER_BYTES));
  header[HEADER.documents] = documents;
  header[HEADER.terms] = terms;
  header[HEADER.headerChecksum] = checksum(new Uint8Array(buffer, 0, HEADER.headerChecksum * 4));
  return buffer;
}
