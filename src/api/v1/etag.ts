import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { isKnownTag } from '../../http/if-none-match.ts';

/** @fastify/etag is not used: it also adds ETags to errors, and supports only one ETag in `If-None-Match`. */
export function tagAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode !== 200 || typeof payload !== 'string') return done(null, payload);
    const tag = `"${hash('sha1', payload, 'base64url')}"`;
    reply.header('etag', tag);
    if (!isKnownTag(request, tag)) return done(null, payload);
    reply.code(304).removeHeader('content-type');
    done(null, '');
  });
}
