import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { type Refusal, RefusedError } from './http-errors.ts';
import { MOST_FIELDS } from './request-limits.ts';

/** Replaces a text that is not valid percent-encoded UTF-8. It is an unpaired surrogate, which every schema refuses. */
const MALFORMED = '\uD800';

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

/** The router cannot refuse a query with too many names, so a hook does. */
const UNREAD: Record<string, never> = Object.freeze(Object.create(null));

export function parseQuery(text: string): Record<string, string | string[]> {
  return hasTooManyFields(text) ? UNREAD : parseFields(text);
}

export function refuseManyFields(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.query === UNREAD) throw new RefusedError(TOO_MANY_FIELDS);
    done();
  });
}

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
 * If a name occurs twice, the values become a list, which the schemas refuse. Malformed percent-encoding becomes an
 * unpaired surrogate: the schemas refuse it in known parameters, and ignore unknown ones.
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
