import {
  alignUp,
  checksum,
  elementBytes,
  HEADER,
  HEADER_BYTES,
  MAGIC,
  SECTIONS,
  type SectionName,
  VERSION,
} from "./format.ts";

type Sections = Record<SectionName, Uint8Array | Uint16Array | Uint32Array>;

/** Puts the header and all sections into one buffer. */
export function assemble(documents: number, terms: number, sections: Sections): SharedArrayBuffer {
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
