import type { FastifyInstance } from 'fastify';
import { takeLooseContentTypes } from '../http/content-type.ts';
import { RefusedError, SENTENCES } from '../http/http-errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0)
    throw new RefusedError({ status: 400, code: 'malformed', sentence: 'The body is empty.' });
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new RefusedError({ status: 400, code: 'malformed', sentence: 'The body is not valid UTF-8.' });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new RefusedError({ status: 400, code: 'malformed', sentence: 'The body is not valid JSON.' });
  }
}

/**
 * Makes JSON the only accepted body type of the routes of `app`. Bodies with invalid UTF-8 are refused; Fastify's own
 * parser would silently replace the invalid bytes. Keys such as `__proto__` are harmless, because the schemas read only
 * the fields that they name.
 */
export function acceptOnlyJson(app: FastifyInstance): void {
  takeLooseContentTypes(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes: Buffer, done) => {
    try {
      done(null, parse(bytes));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      throw new RefusedError({ status: 415, code: 'unsupported-media-type', sentence: SENTENCES[415] });
    done(null, payload);
  });
}
