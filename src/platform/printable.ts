const LONGEST = 200;

/**
 * What a stranger's machine said, made harmless to show: at most 200 characters on one line. White space and
 * line ends become one blank; control, bidirectional, zero-width and unassigned characters become `�`.
 *
 * @param said - text, or bytes that are read as UTF-8
 */
export function printable(said: Uint8Array | string): string {
  const text = typeof said === 'string' ? said : new TextDecoder().decode(said);
  const shown = text.replace(/\s+/gu, ' ').trim().replace(/\p{C}/gu, '\u{fffd}');
  return [...shown].slice(0, LONGEST).join('');
}

/** A shorter run of letters in binary data is an accident. */
const SHORTEST_RUN = 4;
const UNREADABLE = /(?:(?!\s)\p{C}|\u{fffd})+/gu;

/**
 * What can be read of a stranger's bytes: text as `printable` shows it, and of binary data the runs of text in it,
 * with `…` between them. Data without any says how much of it there was.
 */
export function readable(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  const runs = text.split(UNREADABLE);
  if (runs.length === 1) return printable(text);
  const kept = runs.map((run) => run.trim()).filter((run) => run.length >= SHORTEST_RUN);
  return kept.length > 0 ? printable(kept.join(' … ')) : `(${bytes.length} bytes that are not text)`;
}
