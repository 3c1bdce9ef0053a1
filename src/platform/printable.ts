const LONGEST = 200;

/**
 * Makes text, or bytes of UTF-8, of a remote machine safe to show: one line of at most 200 characters, with `�` for
 * control, bidirectional, zero-width, private-use and unassigned ones.
 */
export function printable(received: Uint8Array | string): string {
  const text = typeof received === 'string' ? received : new TextDecoder().decode(received);
  const shown = text.replace(/\s+/gu, ' ').trim().replace(/\p{C}/gu, '\u{fffd}');
  return [...shown].slice(0, LONGEST).join('');
}

/** Shorter runs of letters in binary data are ignored, because they occur by chance. */
const SHORTEST_RUN = 4;
const UNREADABLE = /(?:(?!\s)\p{C}|\u{fffd})+/gu;

/**
 * The readable part of bytes from a remote machine. Text is returned as by `printable`. If the bytes are binary data,
 * the runs of text in them are joined by `…`; if they have no such run, the result states only the number of bytes.
 */
export function readable(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  const runs = text.split(UNREADABLE);
  if (runs.length === 1) return printable(text);
  const texts = runs.map((run) => run.trim()).filter((run) => run.length >= SHORTEST_RUN);
  return texts.length > 0 ? printable(texts.join(' … ')) : `(${bytes.length} bytes that are not text)`;
}
