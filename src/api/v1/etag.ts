import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

/** Whether one of the tags in an If-None-Match is `tag`; a weak comparison (RFC 9110, section 13.1.2). */
function names(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch
    .split(',')
    .map((one) => one.trim().replace(/^W\//, ''))
    .some((one) => one === tag || one === '*');
}

/**
 * Gives every 200 of `app` an ETag, and answers 304 to who has that one already. Strong: the same tag is the same
 * bytes. @fastify/etag would do so with failures too, and knows one tag in If-None-Match.
 */
export function tagAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode !== 200 || typeof payload !== 'string') return done(null, payload);
    const tag = `"${hash('sha1', payload, 'base64url')}"`;
    reply.header('etag', tag);
    const known = request.headers['if-none-match'];
    if (known === undefined || !names(known, tag)) return done(null, payload);
    reply.code(304).removeHeader('content-type');
    done(null, '');
  });
}
