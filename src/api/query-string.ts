/** Stands for a part that is not valid percent-encoded UTF-8; every schema of ours refuses it. */
const MALFORMED = '\uD800';

function decode(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    return MALFORMED;
  }
}

/**
 * Parses a query string: `+` is a space, a name given twice becomes a list (which the schemas refuse). A part
 * with malformed percent-encoding becomes an unpaired surrogate, so that it is refused where it is asked for,
 * and ignored where every unknown parameter is.
 */
export function parseQuery(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const part of text.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : decode(part.slice(equals + 1));
    const before = query[name];
    query[name] = before === undefined ? value : [before, value].flat();
  }
  return query;
}
