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
