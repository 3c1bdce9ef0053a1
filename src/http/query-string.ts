import { isUtf8 } from 'node:buffer';

/** Replaces a text that is not valid percent-encoded UTF-8. It is an unpaired surrogate, which every schema refuses. */
const MALFORMED = '\uD800';

/** Matches a percent sign that is not followed by two hexadecimal digits. */
const BARE_PERCENT = /%(?![\da-f]{2})/i;

const ENCODED_BYTES = /(?:%[\da-f]{2})+/gi;

/** Decodes a name or value. The text is checked first: if thousands are invalid, catching each error is slow. */
function decode(part: string): string {
  const text = part.replaceAll('+', ' ');
  if (!text.includes('%')) return text;
  const isValid =
    !BARE_PERCENT.test(text) &&
    text.match(ENCODED_BYTES)?.every((bytes) => isUtf8(Buffer.from(bytes.replaceAll('%', ''), 'hex')));
  return isValid ? decodeURIComponent(text) : MALFORMED;
}

/**
 * Parses a query string. `+` is a space. If a name occurs twice, the values become a list, which the schemas refuse. If
 * a value has malformed percent-encoding, it becomes an unpaired surrogate: the schemas refuse it in known parameters,
 * and ignore unknown ones.
 */
export function parseQuery(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const part of text.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : decode(part.slice(equals + 1));
    const before = query[name];
    if (before === undefined) query[name] = value;
    else if (typeof before === 'string') query[name] = [before, value];
    else before.push(value);
  }
  return query;
}
