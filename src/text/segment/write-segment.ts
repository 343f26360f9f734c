import { stemTable } from "../../../native/text.ts";
import { languagesOf } from "../analysis/function-words.ts";
import { assemble } from "./assemble.ts";
import { MARK, SEGMENT_MAX_DOCUMENTS } from "./format.ts";
import { invert, type TokenStreams } from "./invert.ts";
import { pathHash } from "./shard.ts";
import { sortTerms } from "./sort-terms.ts";

/** A document ready to be written. Its tokens are positions in `StagedDocuments.terms`. */
export interface StagedDocument {
  id: string;
  path: Buffer;
  title: string;
  /** JSON list of {key, value}. */
  frontmatter: string;
  /** Term numbers and marks, as in the segment. */
  tokens: Uint32Array;
  /** The number of its language. */
  language: number;
  /** The text of the content for snippets. */
  blocks: TextBlock[];
}

/** A piece of a document's content. */
export interface TextBlock {
  /** The number of tokens of the content before it. */
  firstToken: number;
  /** The plain text in UTF-8, compressed; see `text-blocks.ts`. */
  bytes: Uint8Array;
}

interface StagedDocuments {
  documents: StagedDocument[];
  /** Distinct, in any order. */
  terms: string[];
  /** Frontmatter keys; a key's position is its number in field marks. */
  keys: string[];
  /** The language, key of the stem, and term of each word with marks. */
  forms: readonly number[];
}

/** Writes staged documents into the buffer of a segment. */
export function writeSegment(staged: StagedDocuments): SharedArrayBuffer {
  if (staged.documents.length > SEGMENT_MAX_DOCUMENTS) {
    throw new RangeError(`a segment holds at most ${SEGMENT_MAX_DOCUMENTS} documents`);
  }
  const documents = [...staged.documents].sort(
    (a, b) => Buffer.compare(a.path, b.path) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
  const terms = sortTerms(staged.terms);
  const streams = joinTokens(documents, terms.rank);
  const postings = invert(streams, documents.length, terms.sorted.length, staged.keys);
  const strings = joinStrings(documents, staged.keys);
  const languages = Uint8Array.from(documents, (document) => document.language);
  const stems = stemTable({
    languages,
    postingStart: postings.starts,
    postings: postings.postings,
    forms: Uint32Array.from(staged.forms, (number, i) =>
      i % 3 === 2 ? (terms.rank[number] as number) : number,
    ),
    termStart: terms.starts,
    termChars: terms.chars,
    functional: Uint8Array.from(terms.sorted, (term) => (languagesOf(term) === 0 ? 0 : 1)),
  });
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
    languages,
    ...stems,
    postingStart: postings.starts,
    postings: postings.postings,
  });
}

/** Concatenates the documents' tokens, with final term numbers. */
function joinTokens(documents: readonly StagedDocument[], rank: Uint32Array): TokenStreams {
  const starts = new Uint32Array(documents.length + 1);
  documents.forEach((document, i) => {
    starts[i + 1] = (starts[i] as number) + document.tokens.length;
  });
  const tokens = new Uint32Array(starts[documents.length] as number);
  let at = 0;
  for (const document of documents) {
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
