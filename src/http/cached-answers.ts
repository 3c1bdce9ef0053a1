import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { SECOND } from '../platform/clock.ts';
import { chooseEncoding, compressLazily, type LazilyCompressed } from './compressed.ts';

const TTL_MS = 3 * SECOND;
/** What an entry needs besides its key and body, about. */
const ENTRY_BYTES = 1_000;

/** How long browsers and proxies may use an answer, and how much longer while they revalidate it (RFC 5861). */
const FRESH_SECONDS = 10;
const STALE_SECONDS = 60;
export const CACHE_CONTROL = `public, max-age=${FRESH_SECONDS}, stale-while-revalidate=${STALE_SECONDS}`;

export type CachedAnswer = {
  body: Buffer;
  content: LazilyCompressed;
  etag: string;
  link: string;
  cacheControl?: string | undefined;
};

export type CachedAnswers = LRUCache<string, CachedAnswer, { make: () => Promise<CachedAnswer> }>;

/** Answers for everybody, which are kept for 3 seconds. `forceFetch` makes one once if several requests need it. */
export function cacheAnswers(mostBytes: number): CachedAnswers {
  return new LRUCache({
    ttl: TTL_MS,
    maxSize: mostBytes,
    // Compressed, an answer has less than half its size. A character of a key may have two bytes.
    sizeCalculation: ({ body }, key) => 2 * body.length + 2 * key.length + ENTRY_BYTES,
    fetchMethod: (_path, _stale, { context }) => context.make(),
    ignoreFetchAbort: true,
  });
}

export function answerOf(content: string | Buffer, link = ''): CachedAnswer {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  // A compressed answer has other bytes for the same content, so the ETag is weak.
  return {
    body,
    content: compressLazily(body),
    etag: `W/"${createHash('sha1').update(body).digest('base64')}"`,
    link,
  };
}

const SMALLEST_COMPRESSED = 1_024;

export async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  { body: plain, content, etag, link, cacheControl = CACHE_CONTROL }: CachedAnswer,
): Promise<FastifyReply> {
  reply.header('etag', etag);
  const isCompressed = plain.length >= SMALLEST_COMPRESSED && type !== 'image/png';
  const body = isCompressed ? await content(chooseEncoding(request, reply)) : plain;
  if (link) reply.header('link', link);
  // A renewed session has a cookie, so no cache may store the answer.
  if (reply.hasHeader('set-cookie')) return reply.header('cache-control', 'no-store').type(type).send(body);
  return reply.header('cache-control', cacheControl).type(type).send(body);
}
