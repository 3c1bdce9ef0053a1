import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { type Refusal, RefusedError } from './http-errors.ts';
import { MOST_FIELDS } from './request-limits.ts';

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

/** Whether a form or query has more names than any of ours. Nothing is decoded, so this costs little. */
function hasTooManyFields(text: string): boolean {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    count += 1;
    if (count > MOST_FIELDS) return true;
  }
  return false;
}

const TOO_MANY_FIELDS = {
  status: 400,
  code: 'too-many-fields',
  sentence: `The request has more than ${MOST_FIELDS} fields.`,
} as const satisfies Refusal;

/** Stands for a query with too many names. The router cannot refuse it, so a hook does. */
const UNREAD: Record<string, never> = Object.freeze(Object.create(null));

/** `parseFields`, or nothing if the query has too many names: then `refuseManyFields` answers the request. */
export function parseQuery(text: string): Record<string, string | string[]> {
  return hasTooManyFields(text) ? UNREAD : parseFields(text);
}

/** Answers requests whose query has more than 200 names with 400, before any other work. */
export function refuseManyFields(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.query === UNREAD) throw new RefusedError(TOO_MANY_FIELDS);
    done();
  });
}

/**
 * Lets the routes of `app` accept forms (`application/x-www-form-urlencoded`) of at most `bodyLimit` bytes and 200
 * names. The body of a request is an object like that of `parseFields`.
 */
export function acceptForms(app: FastifyInstance, bodyLimit: number): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit },
    (_request, body, done) => {
      const text = String(body);
      if (hasTooManyFields(text)) done(new RefusedError(TOO_MANY_FIELDS));
      else done(null, parseFields(text));
    },
  );
}

/**
 * Parses a form or a query string. `+` is a space. If a name occurs twice, the values become a list, which the schemas refuse. If
 * a value has malformed percent-encoding, it becomes an unpaired surrogate: the schemas refuse it in known parameters,
 * and ignore unknown ones.
 */
function parseFields(text: string): Record<string, string | string[]> {
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
