/**
 * The frequency of a term in a document, in the 12 bits of a posting: its frequency in the content (low
 * bits) and its weighted frequency in all other fields (high bits). They are separate because a search
 * normalises the length of the content by the average of its scope.
 * `native/src/text/segment/frequency_code.cc` reads the codes.
 */
const CONTENT_BITS = 5;
const CONTENT_MASK = (1 << CONTENT_BITS) - 1;
/** Frequencies up to this one are exact; each code beyond it is a quarter more. */
const CONTENT_EXACT = 16;
const CONTENT_STEP = 1.25;

const FIELDS_MAX = 127;
/** A step of the logarithmic scale is about 6%. */
const FIELDS_SCALE = 18;
const FIELDS_SMALLEST = 0.05;

/**
 * @param content frequency in the content; a subword counts less than 1
 * @param fields weighted frequency in the other fields
 * @returns 1..4095
 */
export function frequencyCode(content: number, fields: number): number {
  const low = contentCode(content);
  // A subword alone in the content is too rare for the content's scale.
  const high = low === 0 ? Math.max(1, fieldsCode(fields + content)) : fieldsCode(fields);
  return (high << CONTENT_BITS) | low;
}

function contentCode(frequency: number): number {
  if (frequency <= CONTENT_EXACT) return Math.round(frequency);
  const steps = Math.log(frequency / CONTENT_EXACT) / Math.log(CONTENT_STEP);
  return Math.min(CONTENT_MASK, CONTENT_EXACT + Math.round(steps));
}

function fieldsCode(frequency: number): number {
  if (frequency <= 0) return 0;
  const code = Math.round(FIELDS_SCALE * Math.log(1 + frequency / FIELDS_SMALLEST));
  return Math.max(1, Math.min(FIELDS_MAX, code));
}
