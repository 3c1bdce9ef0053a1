/** A line of text with its place in the file; the first line is number 1. */
export type Line = {
  number: number;
  /** How many bytes of the file end with it. */
  bytesRead: number;
} & ({ text: string } | { fault: string });

/** No line that we take is nearly as long. What is longer is passed over, not kept. */
const LONGEST_LINE_BYTES = 64 * 1_024;

const LF = 0x0a;
const BOM = '\ufeff';

/**
 * Reads lines of UTF-8 text, one at a time: memory does not grow with the file. Lines end in LF or CRLF, the
 * last one may have no end; a byte order mark before the first is passed over, and so are empty lines. A line
 * that is too long or not UTF-8 comes as a fault.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 0;
  let bytesRead = 0;

  const keep = (part: Uint8Array) => {
    length += part.length;
    bytesRead += part.length;
    if (length <= LONGEST_LINE_BYTES) parts.push(part);
    else parts = [];
  };
  const finish = (): Line | null => {
    number += 1;
    const line = lineOf({ number, bytesRead }, Buffer.concat(parts), length > LONGEST_LINE_BYTES);
    parts = [];
    length = 0;
    return line;
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      keep(chunk.subarray(start, end));
      bytesRead += 1;
      start = end + 1;
      const line = finish();
      if (line) yield line;
    }
    // A copy: a reader may fill the same buffer again.
    if (start < chunk.length) keep(Uint8Array.from(chunk.subarray(start)));
  }
  const last = length > 0 ? finish() : null;
  if (last) yield last;
}

/** Throws at bytes that are no UTF-8; a byte order mark stays where it is not at the beginning of the file. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function lineOf(
  place: { number: number; bytesRead: number },
  bytes: Uint8Array,
  tooLong: boolean,
): Line | null {
  if (tooLong) return { ...place, fault: `it is longer than ${LONGEST_LINE_BYTES} bytes` };
  try {
    const decoded = UTF_8.decode(bytes);
    const text = (place.number === 1 && decoded.startsWith(BOM) ? decoded.slice(1) : decoded).trim();
    return text === '' ? null : { ...place, text };
  } catch {
    return { ...place, fault: 'it is not UTF-8 text' };
  }
}
