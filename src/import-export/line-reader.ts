export type Line = {
  number: number;
  bytesRead: number;
} & ({ text: string } | { error: string });

/** A longer line gets an `error` and is not buffered. */
const LONGEST_LINE_BYTES = 64 * 1_024;

const LF = 0x0a;
const BOM = '\ufeff';

/**
 * Lines end with LF or CRLF, the last one also with neither. A byte order mark at the start and empty lines are
 * skipped. Memory does not grow with the file.
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
    // The stream may reuse its buffer.
    if (start < chunk.length) keep(Uint8Array.from(chunk.subarray(start)));
  }
  const last = length > 0 ? finish() : null;
  if (last) yield last;
}

/** `lineOf` skips a byte order mark at the start of the file. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function lineOf(
  position: { number: number; bytesRead: number },
  bytes: Uint8Array,
  tooLong: boolean,
): Line | null {
  if (tooLong) return { ...position, error: `it is longer than ${LONGEST_LINE_BYTES} bytes` };
  try {
    const decoded = UTF_8.decode(bytes);
    const text = (position.number === 1 && decoded.startsWith(BOM) ? decoded.slice(1) : decoded).trim();
    return text === '' ? null : { ...position, text };
  } catch {
    return { ...position, error: 'it is not UTF-8 text' };
  }
}
